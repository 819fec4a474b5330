import { randomUUID } from 'node:crypto';
import type { ErrorRequestHandler, Request, Response } from 'express';
import { CommitUnknownError, StatementError } from '../db/errors';

/** What an answer that is not a success says (RFC 9457). `code` is stable; texts may change. */
export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  /** What happened and what the caller can do about it; no personal data. */
  readonly detail: string;
  /** Members that the code documents, such as `newestSeq`. */
  readonly extra?: Readonly<Record<string, string | number>>;
}

/** Answers with problem+json. The type is a name, not an address: there is nothing to fetch. */
export function sendProblem(response: Response, problem: Problem): void {
  const { extra, ...members } = problem;
  response
    .status(problem.status)
    .set('Cache-Control', 'no-store')
    .type('application/problem+json')
    .send(JSON.stringify({ type: `urn:unsilent:problem:${problem.code}`, ...members, ...extra }));
}

/** Thrown by a route to answer with a problem. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  constructor(readonly problem: Problem) {
    super(problem.code);
  }
}

export interface ProblemLog {
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

/**
 * The last express middleware: turns what a route threw into problem+json. A known problem is
 * answered as it is; anything else is logged and answered as an empty 500 with the request's id.
 */
export function problemHandler(log: ProblemLog): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    const requestId = requestIdOf(request);
    const known = knownProblem(error);
    if (known === null) {
      log.error({ requestId, method: request.method, error }, 'a request failed unexpectedly');
    }
    if (response.headersSent) {
      // Part of an answer is out; express ends the connection, so that it looks broken, not whole.
      next(error);
      return;
    }
    const problem = known ?? UNEXPECTED;
    response.set('X-Request-Id', requestId);
    sendProblem(response, { ...problem, extra: { ...problem.extra, requestId } });
  };
}

const UNEXPECTED: Problem = {
  status: 500,
  code: 'internal_error',
  title: 'Something went wrong on our side',
  detail: '',
};

function requestIdOf(request: Request): string {
  // pino-http names every request; without it the answer and the log line share a fresh id.
  const id: unknown = 'id' in request ? request.id : undefined;
  return typeof id === 'string' || typeof id === 'number' ? String(id) : randomUUID();
}

function knownProblem(error: unknown): Problem | null {
  if (error instanceof ProblemError) return error.problem;
  if (error instanceof CommitUnknownError) {
    return {
      status: 503,
      code: 'outcome_unknown',
      title: 'It is not known whether this was done',
      detail: 'The connection to the database ended. Repeat it with the same Idempotency-Key.',
    };
  }
  if (error instanceof StatementError && error.unavailable) {
    return {
      status: 503,
      code: 'unavailable',
      title: 'The database cannot be reached',
      detail: 'Nothing was changed. Try again in a few seconds.',
    };
  }
  return badRequest(error);
}

/** Express and its body parser report a caller's mistakes as errors with a status below 500. */
function badRequest(error: unknown): Problem | null {
  if (!(error instanceof Error) || !('status' in error)) return null;
  const { status } = error;
  if (typeof status !== 'number' || status < 400 || status > 499) return null;
  return status === 413
    ? {
        status,
        code: 'too_large',
        title: 'The request is too large',
        detail: 'Send a smaller body.',
      }
    : {
        status,
        code: 'bad_request',
        title: 'The request cannot be read',
        detail: 'Check the address and that the body is valid JSON.',
      };
}
