import type { HttpClient, HttpEnding, HttpHeaders } from '../http';
import { retryAfterMs } from '../outcomes';
import type { ProviderError } from '../outcomes';
import { isWireRecord, readWireJson } from '../wire-json';
import type { WireRecord } from '../wire-json';

/** The newest Graph version at the time of writing (providers.md 3.0.1). */
const DEFAULT_GRAPH_VERSION = 'v26.0';

const MS_PER_MINUTE = 60_000;

export interface GraphOptions {
  readonly http: HttpClient;
  /** `https://graph.facebook.com`, or `https://graph.instagram.com` under Instagram's own login. */
  readonly graphUrl: string;
  readonly graphVersion?: string;
}

/** One call to the Graph API. `segments` are path parts, encoded here. */
interface GraphCall {
  readonly segments: readonly string[];
  readonly accessToken: string;
  readonly timeoutMs: number;
}

/** The Graph API at one address and version; each call is one request, never repeated. */
export interface GraphApi {
  get(call: GraphCall, query: Readonly<Record<string, string>>): Promise<HttpEnding>;
  post(call: GraphCall, body: WireRecord): Promise<HttpEnding>;
}

/** Makes the Graph API client of a sender. Throws where `graphUrl` is no address. */
export function makeGraphApi(options: GraphOptions): GraphApi {
  const { http, graphUrl, graphVersion = DEFAULT_GRAPH_VERSION } = options;
  const base = new URL(graphUrl).href.replace(/\/$/, '');
  const urlOf = (segments: readonly string[]) =>
    new URL([base, graphVersion, ...segments.map(encodeURIComponent)].join('/'));
  return {
    get: ({ segments, accessToken, timeoutMs }, query) => {
      const url = urlOf(segments);
      url.search = new URLSearchParams(query).toString();
      const headers = { authorization: `Bearer ${accessToken}` };
      return http.call({ method: 'GET', url, headers, body: null, timeoutMs });
    },
    post: ({ segments, accessToken, timeoutMs }, body) =>
      http.call({
        method: 'POST',
        url: urlOf(segments),
        headers: {
          authorization: `Bearer ${accessToken}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify(body),
        timeoutMs,
      }),
  };
}

/** Reads Meta's error body (providers.md 3.0.4); null where the answer carries none. */
export function readGraphError(body: WireRecord): ProviderError | null {
  if (body.error === undefined || body.error === null) return null;
  const error = isWireRecord(body.error) ? body.error : {};
  const { code, error_subcode: subcode } = error;
  return {
    code: typeof code === 'string' ? Number(code) : Number.NaN,
    subcode: typeof subcode === 'string' ? Number(subcode) : null,
  };
}

/**
 * The wait that Meta asks for, in milliseconds: `Retry-After`, or the minutes in the usage header
 * (providers.md 3.0.4), or null where it asks for none.
 */
export function graphWaitMs(headers: HttpHeaders): number | null {
  const asked = retryAfterMs(headers);
  if (asked !== null) return asked;
  const usage = headers['x-business-use-case-usage'];
  if (typeof usage !== 'string') return null;
  const json = readWireJson(Buffer.from(usage));
  if (!json.readable || !isWireRecord(json.value)) return null;
  const minutes = Object.values(json.value)
    .flatMap((uses): unknown[] => (Array.isArray(uses) ? uses : []))
    .map((use) => Number(isWireRecord(use) ? use.estimated_time_to_regain_access : 0))
    .filter((wait) => wait > 0);
  return minutes.length === 0 ? null : Math.max(...minutes) * MS_PER_MINUTE;
}
