import type { Request } from 'express';
import type { SandboxContext } from '../context';
import { visibleUntil, type Reply } from '../provider-call';
import { firstText } from '../values';
import { segmentCount } from './segments';
import type { SmsRecord } from './sms-store';
import { twilioError } from './twilio-errors';

const DAY_MS = 86_400_000;
const PAGE_SIZE_DEFAULT = 50;
const PAGE_SIZE_MAX = 1_000;

/** RFC 2822 with seconds and `+0000`, as the 2010 API writes times. */
function rfc2822(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toUTCString().replace('GMT', '+0000');
}

/** A message as the API shows it (providers 5.2.8). */
export function messageResource(record: SmsRecord) {
  const uri = `/2010-04-01/Accounts/${record.accountSid}/Messages/${record.sid}`;
  return {
    sid: record.sid,
    account_sid: record.accountSid,
    messaging_service_sid: null,
    from: record.from,
    to: record.to,
    body: record.body,
    status: record.status,
    direction: record.direction,
    num_segments: String(segmentCount(record.body)),
    num_media: String(record.mediaCount),
    error_code: record.errorCode,
    error_message: null,
    price: null,
    price_unit: 'USD',
    api_version: '2010-04-01',
    date_created: rfc2822(record.createdAt),
    date_sent: rfc2822(record.sentAt),
    date_updated: rfc2822(record.sentAt ?? record.createdAt),
    uri: `${uri}.json`,
    subresource_uris: { media: `${uri}/Media.json` },
  };
}

/** A day (`YYYY-MM-DD`, GMT) or an instant; null where it is neither. */
function rangeOf(text: string): { readonly start: number; readonly end: number } | null {
  const start = Date.parse(text);
  if (Number.isNaN(start)) return null;
  return { start, end: start + (/^\d{4}-\d\d-\d\d$/.test(text) ? DAY_MS : 1_000) };
}

interface SentRange {
  readonly sentFrom: number;
  readonly sentBefore: number;
}

/** `DateSent` is a day, `DateSent>` and `DateSent<` are inclusive bounds (providers 5.2.7, 5.2.9). */
function sentRangeOf(query: Request['query']): SentRange | null {
  const bounds = { sentFrom: Number.NEGATIVE_INFINITY, sentBefore: Number.POSITIVE_INFINITY };
  for (const [name, from, before] of [
    ['DateSent', true, true],
    ['DateSent>', true, false],
    ['DateSent<', false, true],
  ] as const) {
    const text = firstText(query[name]);
    if (text === null) continue;
    const range = rangeOf(text);
    if (range === null) return null;
    if (from) bounds.sentFrom = range.start;
    if (before) bounds.sentBefore = range.end;
  }
  return bounds;
}

function wholeNumber(text: string | null, fallback: number, max: number): number {
  const number = Number(text ?? fallback);
  return Number.isInteger(number) && number >= 0 ? Math.min(number, max) : fallback;
}

/** `GET …/Messages.json`: the newest first, filtered, in pages. */
export function listMessages(
  context: SandboxContext,
  accountSid: string,
  query: Request['query'],
): Reply {
  const range = sentRangeOf(query);
  if (range === null) return twilioError(400, 20001, 'Invalid DateSent parameter');
  const to = firstText(query['To']);
  const from = firstText(query['From']);
  const until = visibleUntil(context, 'sms');
  const found = context.sms.list({ accountSid, to, from, ...range, visibleUntil: until });
  const size = Math.max(
    1,
    wholeNumber(firstText(query['PageSize']), PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX),
  );
  const page = wholeNumber(firstText(query['Page']), 0, Number.MAX_SAFE_INTEGER);
  const shown = found.slice(page * size, (page + 1) * size);
  const uriOf = (number: number) => {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (typeof value === 'string' && name !== 'Page') parameters.set(name, value);
    }
    parameters.set('PageSize', String(size));
    parameters.set('Page', String(number));
    return `/2010-04-01/Accounts/${accountSid}/Messages.json?${parameters.toString()}`;
  };
  const body = {
    messages: shown.map(messageResource),
    page,
    page_size: size,
    start: page * size,
    end: page * size + Math.max(0, shown.length - 1),
    uri: uriOf(page),
    first_page_uri: uriOf(0),
    next_page_uri: found.length > (page + 1) * size ? uriOf(page + 1) : null,
    previous_page_uri: page === 0 ? null : uriOf(page - 1),
  };
  return { status: 200, body };
}
