import type { Request } from 'express';
import { z } from 'zod';
import { isId, type Id } from '../../domain/ids';
import type { PageMark } from '../../db/queries/staff-reading';
import { ProblemError, type Problem } from '../problem';

/** The problem of a conversation that the business does not have, foreign ones included (SEC1). */
export const NOT_FOUND: Problem = {
  status: 404,
  code: 'not_found',
  title: 'There is no such thing here',
  detail: 'Check the address and the id.',
};

/** The id in the path. What is no such id is answered as one that does not exist. */
export function idOf<Prefix extends string>(prefix: Prefix, request: Request): Id<Prefix> {
  const { id } = request.params;
  if (!isId(prefix, id)) throw new ProblemError(NOT_FOUND);
  return id;
}

/** Parses a query or a body. Throws a 400 problem that names each field and its mistake. */
export function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const mistakes = parsed.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join('.')}: ${message}`,
  );
  throw invalid(mistakes.join('; '));
}

function invalid(detail: string): ProblemError {
  return new ProblemError({
    status: 400,
    code: 'invalid_request',
    title: 'The request is not valid',
    detail,
  });
}

/** The JSON body; an absent one is empty. Anything but JSON is refused, never ignored. */
export function bodyOf(request: Request): unknown {
  const body: unknown = request.body;
  if (body !== undefined) return body;
  const hasBody = request.get('transfer-encoding') !== undefined;
  if (!hasBody && Number(request.get('content-length') ?? 0) === 0) return {};
  throw new ProblemError({
    status: 415,
    code: 'unsupported_media_type',
    title: 'The body is not JSON',
    detail: 'Send JSON with "Content-Type: application/json", or no body.',
  });
}

const KEY = /^[\x21-\x7e]{1,200}$/;

/** The Idempotency-Key header. Throws a 400 problem that says how to make one. */
export function idempotencyKeyOf(request: Request): string {
  const key = request.get('idempotency-key') ?? '';
  if (KEY.test(key)) return key;
  throw new ProblemError({
    status: 400,
    code: 'idempotency_key_required',
    title: 'The Idempotency-Key header is missing or not usable',
    detail:
      'Send an Idempotency-Key of 1 to 200 printable characters without spaces, such as a new UUID for each action; send the same one when you repeat that action.',
  });
}

const MARK = z.tuple([
  z.string().refine(isInstant, 'is not an instant'),
  z.string().regex(/^[a-z]{3}_[0-9a-f]{32}$/),
]);

/** Postgres refuses what is no date; JavaScript would roll it over into the next month. */
function isInstant(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(text)) return false;
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && new Date(ms).toISOString().slice(0, 19) === text.slice(0, 19);
}

/** An opaque cursor for the row at which a page ends. */
export function encodeCursor(mark: PageMark): string {
  return Buffer.from(JSON.stringify([mark.at, mark.id])).toString('base64url');
}

/** What a cursor of ours says; null without one. Throws a 400 problem for anything else. */
export function decodeCursor(cursor: string | undefined): PageMark | null {
  if (cursor === undefined) return null;
  const parsed = MARK.safeParse(jsonOf(Buffer.from(cursor, 'base64url').toString('utf8')));
  if (!parsed.success) throw invalid('cursor: take it from `nextCursor` of the page before');
  const [at, id] = parsed.data;
  return { at, id };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON is as wrong as any other cursor that is not ours; the caller says so.
    return undefined;
  }
}
