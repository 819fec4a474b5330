/** Parts of a logical send's identity (spec C5). */
export interface SendIdentity {
  readonly accountId: string;
  readonly conversationId: string;
  readonly sourceEvent: string;
  readonly purpose: string;
  readonly policyVersion: string;
}

/**
 * The text whose digest is the idempotency key of a logical send: source account, conversation,
 * source event, purpose and policy version (C5). JSON, so that no two identities run together.
 */
export function sendIdentityText(identity: SendIdentity): string {
  return JSON.stringify([
    identity.accountId,
    identity.conversationId,
    identity.sourceEvent,
    identity.purpose,
    identity.policyVersion,
  ]);
}

/** The source event of a reply: the newest covered inbound and the token (C5). */
export function replySourceEvent(newestCoveredSeq: number, token: string): string {
  return `inbound:${newestCoveredSeq}:${token}`;
}

/** The source event of a follow-up: plan and step (C5). */
export function followUpSourceEvent(planId: string, step: number): string {
  return `plan:${planId}:${step}`;
}

/** The source event of a fallback: the failed send that it replaces, so there is one (T3). */
export function fallbackSourceEvent(failedSendId: string): string {
  return `fallback:${failedSendId}`;
}

/** The key of the work that follows a receipt, unique per receipt, operation and version (IN2). */
export function jobKey(receiptId: string, operation: string, version: number): string {
  return `${receiptId}:${operation}:v${version}`;
}
