import type { SendOutcome } from '../domain/sending';
import type { HttpEnding, HttpHeaders } from './http';
import { isWireRecord, readWireJson } from './wire-json';
import type { WireRecord } from './wire-json';

/**
 * What a provider's error code means for one send:
 * `pause` refuses the account's credentials or rights (spec IN4), `back-off` was not processed and
 * may be tried later, `never` is final for this send, `opted-out` is final for the recipient, and
 * `unknown` leaves open whether the message left.
 */
export type ErrorAction = 'pause' | 'back-off' | 'never' | 'opted-out' | 'unknown';

/** One row of a provider's error table. The first row that matches counts. */
export interface ErrorRule {
  readonly from: number;
  /** The last code of a range; absent for a single code. */
  readonly to?: number;
  /** Where set, the row holds only for these subcodes; `any` asks for one, whichever. */
  readonly subcodes?: readonly number[] | 'any';
  readonly action: ErrorAction;
  /** The shortest wait that the provider asks for, where it says none itself. */
  readonly waitMs?: number;
}

/** A provider's own error, read from an answer. */
export interface ProviderError {
  /** NaN where the error names none; then the status of the answer decides. */
  readonly code: number;
  readonly subcode: number | null;
}

/** How to read one provider's answers to a send. */
export interface AnswerDialect {
  readonly rules: readonly ErrorRule[];
  /** Null where the answer carries no error of the provider. */
  readError(body: WireRecord): ProviderError | null;
  /** The id of the accepted message, or null where the answer is not the documented one. */
  readId(body: WireRecord): string | null;
  /** The wait that the provider's own headers ask for, in milliseconds. */
  waitMs(headers: HttpHeaders): number | null;
}

/**
 * Turns the ending of one call into what is known about the message (providers.md 0.2, rule 3):
 * unsent and documented refusals are not accepted, a documented success is accepted, and
 * everything else is unknown. A success that carries an error is unknown too, whatever its code.
 */
export function outcomeOf(ending: HttpEnding, dialect: AnswerDialect): SendOutcome {
  if (ending.kind === 'unsent') return notAccepted(ending.code, 'back-off');
  if (ending.kind === 'lost') {
    return ending.status === null || ending.status < 300
      ? unknown(ending.code)
      : outcomeOfStatus(ending.status, ending.headers, `http-${ending.status}`);
  }
  const body = bodyOf(ending.body);
  const error = body === null ? null : dialect.readError(body);
  if (ending.status >= 200 && ending.status < 300) return successOf(body, error, dialect);
  if (error === null) {
    return outcomeOfStatus(ending.status, ending.headers, `http-${ending.status}`);
  }
  const code = codeOf(error) ?? `http-${ending.status}`;
  const rule = dialect.rules.find((candidate) => matches(candidate, error));
  if (rule === undefined) return outcomeOfStatus(ending.status, ending.headers, code);
  return outcomeOfRule(rule, code, dialect.waitMs(ending.headers));
}

/** An ending in which the provider surely did not take the message. */
export function notAccepted(
  code: string,
  action: Exclude<ErrorAction, 'unknown'>,
  retryAfterMs: number | null = null,
): SendOutcome {
  return {
    kind: 'not-accepted',
    code,
    retry: action === 'pause' || action === 'back-off' ? 'back-off' : 'never',
    retryAfterMs,
    pausesAccount: action === 'pause',
    optedOut: action === 'opted-out',
  };
}

/**
 * Reads `Retry-After` (RFC 9110: seconds or an HTTP date) as milliseconds from now. A date is
 * measured against the answer's own `Date`, so that a wrong clock of ours does not matter.
 */
export function retryAfterMs(headers: HttpHeaders): number | null {
  const value = headers['retry-after'];
  if (typeof value !== 'string') return null;
  const text = value.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const until = Date.parse(text);
  if (Number.isNaN(until)) return null;
  const answeredAt = typeof headers.date === 'string' ? Date.parse(headers.date) : Number.NaN;
  return Math.max(0, until - (Number.isNaN(answeredAt) ? Date.now() : answeredAt));
}

/** The JSON object of an answer, or null where the answer is anything else. */
export function bodyOf(body: Buffer): WireRecord | null {
  const json = readWireJson(body);
  return json.readable && isWireRecord(json.value) ? json.value : null;
}

function codeOf({ code, subcode }: ProviderError): string | null {
  if (Number.isNaN(code)) return null;
  return subcode === null ? String(code) : `${code}/${subcode}`;
}

function unknown(code: string): SendOutcome {
  return { kind: 'unknown', code };
}

function successOf(
  body: WireRecord | null,
  error: ProviderError | null,
  dialect: AnswerDialect,
): SendOutcome {
  if (error !== null) return unknown(`success-with-error-${codeOf(error) ?? 'without-code'}`);
  const id = body === null ? null : dialect.readId(body);
  return id === null ? unknown('unreadable-success') : { kind: 'accepted', providerMessageId: id };
}

function outcomeOfRule(rule: ErrorRule, code: string, askedMs: number | null): SendOutcome {
  if (rule.action === 'unknown') return unknown(code);
  const shortestMs = rule.waitMs ?? null;
  const waitMs =
    askedMs === null || shortestMs === null
      ? (askedMs ?? shortestMs)
      : Math.max(askedMs, shortestMs);
  return notAccepted(code, rule.action, waitMs);
}

function outcomeOfStatus(status: number, headers: HttpHeaders, code: string): SendOutcome {
  if (status === 429) return notAccepted(code, 'back-off', retryAfterMs(headers));
  if (status === 401) return notAccepted(code, 'pause');
  // 408 comes from a server that may have read a part, or all, of the request.
  if (status >= 400 && status < 500 && status !== 408) return notAccepted(code, 'never');
  return unknown(code);
}

function matches(rule: ErrorRule, error: ProviderError): boolean {
  // Written so that a code that is no number is in no range.
  const isInRange = error.code >= rule.from && error.code <= (rule.to ?? rule.from);
  if (!isInRange) return false;
  if (rule.subcodes === undefined) return true;
  if (error.subcode === null) return false;
  return rule.subcodes === 'any' || rule.subcodes.includes(error.subcode);
}
