import type { Refusal } from '../../db/commands/contract';
import type { Problem } from '../problem';

const REFUSALS: Readonly<Record<Refusal['code'], Pick<Problem, 'status' | 'title'>>> = {
  not_found: { status: 404, title: 'There is no such thing here' },
  newer_message: { status: 409, title: 'A newer message came; look at it first' },
  seen_seq_required: { status: 400, title: 'Say which message you saw last' },
  not_applicable: { status: 409, title: 'This does not apply in the present state' },
  opted_out: { status: 409, title: 'The lead opted out; nothing may be sent' },
  window_closed: { status: 409, title: "The channel's reply window has closed" },
  text_does_not_fit: { status: 400, title: 'The text is no single message of this channel' },
  send_not_named: { status: 409, title: 'Say which message is meant' },
  beyond_expiry: { status: 409, title: 'The message would be too late' },
  wrong_time: { status: 400, title: 'That instant cannot be right' },
  key_reused: { status: 422, title: 'This Idempotency-Key belongs to another command' },
};

/** The problem with which a refused command is answered. */
export function refusalProblem(refusal: Refusal): Problem {
  const { code, detail, newestSeq } = refusal;
  return {
    code,
    detail,
    ...REFUSALS[code],
    ...(newestSeq === undefined ? {} : { extra: { newestSeq } }),
  };
}
