import type { StaffCommandResult } from '../../db/commands/contract';
import type { Problem } from '../problem';

type Refusal = Extract<StaffCommandResult, { kind: 'refused' }>;

const REFUSALS: Readonly<Record<Refusal['code'], Pick<Problem, 'status' | 'title'>>> = {
  not_found: { status: 404, title: 'There is no such conversation' },
  newer_message: { status: 409, title: 'A newer message came; look at it first' },
  seen_seq_required: { status: 400, title: 'Say which message you saw last' },
  not_applicable: { status: 409, title: 'This does not apply in the present state' },
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
