import type { ConversationCommand, StaffCommand } from '../../db/commands/contract';

/** Every staff command with something to say, for tables over all of them. */
export const SAMPLE_COMMANDS: {
  readonly [Name in StaffCommand]: ConversationCommand & { readonly command: string };
} = {
  claim: { command: 'claim' },
  release: { command: 'release' },
  book: { command: 'book' },
  'opt-out': { command: 'opt-out' },
  pause: { command: 'pause' },
  resume: { command: 'resume' },
  close: { command: 'close' },
  reply: { command: 'reply', text: 'We can come on Friday.' },
  note: { command: 'note', text: 'Prefers mornings.' },
  approve: { command: 'approve', text: null },
  reject: { command: 'reject', reason: 'Wrong service.' },
  'send-now': { command: 'send-now', sendId: null, reason: 'It is urgent.' },
  postpone: {
    command: 'postpone',
    sendId: null,
    reason: 'They asked for later.',
    until: '2026-11-30T18:30:00Z',
  },
  'opt-in': {
    command: 'opt-in',
    source: 'telephone call',
    at: '2026-11-30T18:10:00Z',
    words: 'Please text me again.',
  },
  assign: { command: 'assign', queue: 'shift-lead' },
};
