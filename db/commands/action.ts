import type { PoolClient } from 'pg';
import type { Locked } from '../conversations';
import type {
  ChannelRules,
  ConversationCommand,
  ConversationRequest,
  Refusal,
  RefusalCode,
  StaffCommandRequest,
} from './contract';

/** Who acts, as the takeover log and the work items name them: a role, never a person (H1). */
export interface StaffActor {
  readonly kind: 'company_role';
  readonly ref: 'support-agent' | 'shift-supervisor';
}

/** One command on a locked conversation, while its transaction runs. */
export interface Action {
  readonly client: PoolClient;
  readonly locked: Locked;
  readonly actor: StaffActor;
  readonly role: StaffCommandRequest['role'];
  readonly seenSeq: number | null;
  readonly idempotencyKey: string;
  /** Names the command in the log and in the facts that it caused. */
  readonly commandId: string;
  readonly channels: ChannelRules;
}

/** A conversation's request that is one of the given commands. */
export type RequestOf<Command extends ConversationCommand['command']> = Extract<
  ConversationRequest,
  { readonly command: Command }
>;

/** The actor of a company role. */
export function actorOf(role: StaffCommandRequest['role']): StaffActor {
  return { kind: 'company_role', ref: role === 'agent' ? 'support-agent' : 'shift-supervisor' };
}

/** A refusal with its way out. */
export function refuse(code: RefusalCode, detail: string): Refusal {
  return { kind: 'refused', code, detail };
}

/**
 * Refuses what a person decided without the newest message of the lead (T6). `requires` says
 * whether they must name what they saw.
 */
export function refuseUnseen(
  { locked, seenSeq }: Pick<Action, 'locked' | 'seenSeq'>,
  requires = true,
): Refusal | null {
  const newestSeq = locked.conversation.lastInboundSeq;
  if (seenSeq === null) {
    if (!requires) return null;
    return refuse('seen_seq_required', 'Say the newest message that you saw, as `seenSeq`.');
  }
  if (seenSeq >= newestSeq) return null;
  return {
    ...refuse('newer_message', 'The lead wrote again. Look at the new message first.'),
    newestSeq,
  };
}
