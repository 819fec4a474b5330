import { Agent } from 'undici';

/** A request as it goes over the wire: body and headers are signed already. */
export interface SignedRequest {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What one POST came to. */
export interface Attempt {
  /** HTTP status, or 0 where there was no answer. */
  readonly status: number;
  /** True where not even a connection came about. */
  readonly connectFailed: boolean;
  readonly reason: string | null;
}

const CONNECT_ERRORS = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

const CONNECT_TIMEOUT_MS = 10_000;
const CONNECTIONS_PER_ORIGIN = 64;

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/**
 * Splits a URL without normalising it, because a provider signs and requests exactly the text
 * that was configured; the fragment never travels. Null where it is no http(s) URL.
 */
export function splitUrl(
  url: string,
): { readonly signed: string; readonly origin: string; readonly target: string } | null {
  const match = /^(https?:\/\/[^/?#]+)([^#]*)/i.exec(url);
  if (match === null) return null;
  const [signed, origin = '', rest = ''] = match;
  return { signed, origin, target: rest.startsWith('/') ? rest : `/${rest}` };
}

/** The HTTP client of the webhooks: keep-alive connections, no redirects, no retries. */
export class WebhookClient {
  readonly #agent = new Agent({
    connections: CONNECTIONS_PER_ORIGIN,
    connect: { timeout: CONNECT_TIMEOUT_MS },
  });
  readonly #publicUrl: string;
  readonly #reachableAt: string;

  /** Requests to `publicUrl` go to `reachableAt`, as through a reverse proxy. */
  constructor(publicUrl: string, reachableAt: string) {
    this.#publicUrl = publicUrl;
    this.#reachableAt = reachableAt;
  }

  /** Posts once. Every ending is an attempt; it never throws. */
  async post(url: string, request: SignedRequest, timeoutMs: number): Promise<Attempt> {
    const parts = splitUrl(url);
    if (parts === null) return { status: 0, connectFailed: false, reason: 'not an http URL' };
    const proxied = parts.origin === this.#publicUrl && this.#reachableAt !== this.#publicUrl;
    try {
      const response = await this.#agent.request({
        origin: proxied ? this.#reachableAt : parts.origin,
        path: parts.target,
        method: 'POST',
        body: request.body,
        headers: proxied
          ? { ...request.headers, host: new URL(parts.origin).host }
          : request.headers,
        signal: AbortSignal.timeout(timeoutMs),
      });
      await response.body.dump();
      return { status: response.statusCode, connectFailed: false, reason: null };
    } catch (error) {
      const reason = codeOf(error);
      return { status: 0, connectFailed: CONNECT_ERRORS.has(reason), reason };
    }
  }

  /** GETs once, for the subscription handshake; null where there was no answer. */
  async get(url: string, timeoutMs: number): Promise<{ status: number; body: string } | null> {
    const parts = splitUrl(url);
    if (parts === null) return null;
    try {
      const response = await this.#agent.request({
        origin: parts.origin === this.#publicUrl ? this.#reachableAt : parts.origin,
        path: parts.target,
        method: 'GET',
        signal: AbortSignal.timeout(timeoutMs),
      });
      return { status: response.statusCode, body: await response.body.text() };
    } catch {
      return null;
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}
