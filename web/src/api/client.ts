import type { Operations, Problem } from '../generated/api';
import { currentToken, signOut } from '../session';

type Name = keyof Operations;

interface CallOptions<Operation extends Name> {
  /** The conversation, for operations about one. */
  readonly id?: string;
  readonly query?: Operations[Operation]['query'];
  readonly body?: Operations[Operation]['body'];
  /** Makes a repeated write act once. */
  readonly idempotencyKey?: string;
  /** Another token than the one signed in with. */
  readonly token?: string;
  readonly signal?: AbortSignal;
}

/** The API answered with a problem; `code` is stable. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  constructor(readonly problem: Problem) {
    super(problem.detail === '' ? problem.title : `${problem.title}. ${problem.detail}`);
  }
}

/** The API could not be reached; nobody knows whether a write was done. */
class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
  constructor() {
    super('The server cannot be reached.');
  }
}

/**
 * Calls one operation of the staff API and gives its answer. Throws `ApiError` and
 * `UnreachableError`; a token that is no longer valid signs out.
 */
export async function call<Operation extends Name>(
  operation: Operation,
  options: CallOptions<Operation> = {},
): Promise<Operations[Operation]['answer']> {
  const [method, template] = operation.split(' ', 2);
  const path = (template ?? '').replace('{id}', encodeURIComponent(options.id ?? ''));
  const response = await reach(path + search(options.query ?? {}), {
    method: method ?? 'GET',
    headers: headersOf(options),
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  if (!response.ok) throw await problemOf(response, options.token);
  // The types are made from the same schemas that the server answers with.
  return (await response.json()) as Operations[Operation]['answer'];
}

async function reach(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    throw new UnreachableError();
  }
}

function search(query: object): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined);
  if (entries.length === 0) return '';
  return `?${new URLSearchParams(entries.map(([key, value]) => [key, String(value)])).toString()}`;
}

function headersOf(options: CallOptions<Name>): Record<string, string> {
  const token = options.token ?? currentToken() ?? '';
  return {
    Accept: 'application/json',
    Authorization: `Bearer ${token}`,
    ...(options.body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(options.idempotencyKey === undefined ? {} : { 'Idempotency-Key': options.idempotencyKey }),
  };
}

async function problemOf(response: Response, usedToken: string | undefined): Promise<ApiError> {
  if (response.status === 401 && usedToken === undefined) signOut();
  const fallback: Problem = {
    type: 'about:blank',
    status: response.status,
    code: 'unknown',
    title: `The server answered ${response.status}`,
    detail: '',
  };
  const isProblem = response.headers.get('content-type')?.includes('problem+json') === true;
  return new ApiError(isProblem ? ((await response.json()) as Problem) : fallback);
}

/** A new Idempotency-Key. `randomUUID` is missing on plain http from another machine. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
