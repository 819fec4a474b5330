import type { WakeTarget } from '../due';

/** The staff commands of this version; `contract.md` lists those that later versions add. */
export const STAFF_COMMANDS = ['claim', 'release', 'book', 'opt-out'] as const;
export type StaffCommand = (typeof STAFF_COMMANDS)[number];

export interface StaffCommandRequest {
  readonly businessId: string;
  /** A company role, never a person (H1). */
  readonly role: 'agent' | 'manager' | 'owner';
  readonly command: StaffCommand;
  readonly conversationId: string;
  /** The client's key: the same key gets the same answer and acts once. */
  readonly idempotencyKey: string;
  /** The newest message that the person saw; `release` requires it (T6). */
  readonly seenSeq: number | null;
}

export type StaffCommandResult =
  | {
      readonly kind: 'done';
      readonly response: {
        readonly conversationId: string;
        readonly state: string;
        readonly owner: string;
        readonly version: number;
      };
      /** Null where the key was seen before: nothing changed now. */
      readonly wake: WakeTarget | null;
    }
  | {
      readonly kind: 'refused';
      readonly code:
        | 'not_found'
        /** A newer message came than the person saw; look at it first. */
        | 'newer_message'
        | 'seen_seq_required'
        /** The command does not apply in the present state. */
        | 'not_applicable'
        /** The key was used for another command. */
        | 'key_reused';
      readonly detail: string;
      readonly newestSeq?: number;
    };
