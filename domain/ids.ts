/**
 * Typed, prefixed ids. An id pasted from a log says what it identifies, and the compiler refuses
 * one kind where another is wanted. The part behind the prefix is a UUIDv7, so ids sort by age.
 * They are made at the edges (`db/new-id.ts`), because the domain has no randomness.
 */
export type Id<Prefix extends string> = `${Prefix}_${string}`;

export type BusinessId = Id<'biz'>;
export type AccountId = Id<'acc'>;
export type LeadId = Id<'led'>;
export type AddressId = Id<'adr'>;
export type ConversationId = Id<'cnv'>;
export type MessageId = Id<'msg'>;
export type RawDeliveryId = Id<'raw'>;
export type ReceiptId = Id<'rcp'>;
export type SendId = Id<'snd'>;
export type AttemptId = Id<'att'>;
export type DecisionId = Id<'dec'>;
export type WorkItemId = Id<'wrk'>;
export type PlanId = Id<'pln'>;

const ID_BODY = /^[0-9a-f]{32}$/;

/**
 * Says whether `value` is an id of the kind `prefix`. Used where an id comes from outside, such as
 * a path parameter; inside, the types carry it.
 */
export function isId<Prefix extends string>(prefix: Prefix, value: unknown): value is Id<Prefix> {
  if (typeof value !== 'string' || !value.startsWith(`${prefix}_`)) return false;
  return ID_BODY.test(value.slice(prefix.length + 1));
}
