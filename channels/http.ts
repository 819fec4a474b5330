import { Agent } from 'undici';
import type { Dispatcher } from 'undici';

/** One request to a provider. It is written at most once, whatever happens. */
interface HttpCall {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** Covers connecting, writing, waiting and reading together. */
  readonly timeoutMs: number;
}

/** What one call ended with, told apart by what the provider can have seen of it. */
export type HttpEnding =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: HttpHeaders;
      readonly body: Buffer;
    }
  /** No byte of the request was written: refused, no name, no TLS, no connection in time. */
  | { readonly kind: 'unsent'; readonly code: string }
  /** Written, but not answered in full. The status is known where only the body was cut off. */
  | {
      readonly kind: 'lost';
      readonly code: string;
      readonly status: number | null;
      readonly headers: HttpHeaders;
    };

export type HttpHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface HttpClient {
  /** Never throws and never retries: every ending is a value. */
  call(call: HttpCall): Promise<HttpEnding>;
  /** Waits for the calls in flight, then gives the connections back. */
  close(): Promise<void>;
}

/** More than the gate lets fly at once to one provider; beyond it calls wait for a connection. */
const CONNECTIONS_MAX = 64;
const CONNECT_TIMEOUT_MS = 5_000;
/** Shorter than the idle limit of common servers, so that a closing connection is not reused. */
const KEEP_ALIVE_MS = 4_000;
const KEEP_ALIVE_MAX_MS = 60_000;
const RESPONSE_BYTES_MAX = 1024 * 1024;
/** A longer or unreadable time-out is a mistake of the caller; the timer of Node wraps at 2^31 ms. */
const TIMEOUT_MS_MAX = 120_000;

/**
 * Makes the client all senders share: kept-alive connections, HTTP/1.1 (an HTTP/2 GOAWAY could
 * repeat a request), no redirects, no retries, answers over 1 MiB cut off.
 */
export function makeHttpClient(): HttpClient {
  const agent = new Agent({
    connections: CONNECTIONS_MAX,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    // One absolute timer per call rules; undici's own count from the last byte.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: RESPONSE_BYTES_MAX,
  });
  return {
    call: (call) =>
      new Promise((resolve) => {
        const { url, method, headers, body } = call;
        const timeoutMs = boundedTimeout(call.timeoutMs);
        if (timeoutMs === 0) {
          resolve({ kind: 'unsent', code: 'no-time-left' });
          return;
        }
        const target = { origin: url.origin, path: url.pathname + url.search };
        agent.dispatch(
          { ...target, method, headers: { ...headers }, body },
          new SingleCall(timeoutMs, resolve),
        );
      }),
    close: () => agent.close(),
  };
}

/** Follows one request through undici and knows at each instant whether a byte can have left. */
class SingleCall implements Dispatcher.DispatchHandler {
  readonly #timer: NodeJS.Timeout;
  readonly #resolve: (ending: HttpEnding) => void;
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | null = null;
  #status: number | null = null;
  #headers: HttpHeaders = {};
  #ended = false;

  constructor(timeoutMs: number, resolve: (ending: HttpEnding) => void) {
    this.#resolve = resolve;
    this.#timer = setTimeout(() => this.#timeOut(), timeoutMs);
  }

  /** The connection stands and the next thing undici does is to write. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Too late, or a second write of the same request: neither may reach the provider.
    if (this.#ended || this.#controller !== null) {
      controller.abort(new Error('the call may not be written any more'));
      return;
    }
    this.#controller = controller;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: HttpHeaders,
  ): void {
    // An interim answer such as 103 says nothing about the request.
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const body = Buffer.concat(this.#chunks);
    if (this.#status === null) this.#end(this.#lost('no-status'));
    else this.#end({ kind: 'answered', status: this.#status, headers: this.#headers, body });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const code = codeOf(error);
    this.#end(this.#controller === null ? { kind: 'unsent', code } : this.#lost(code));
  }

  #timeOut(): void {
    const controller = this.#controller;
    if (controller === null) {
      this.#end({ kind: 'unsent', code: 'timeout-before-write' });
      return;
    }
    this.#end(this.#lost('timeout'));
    controller.abort(new Error('the time for the call is over'));
  }

  #lost(code: string): HttpEnding {
    return { kind: 'lost', code, status: this.#status, headers: this.#headers };
  }

  #end(ending: HttpEnding): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#resolve(ending);
  }
}

function boundedTimeout(timeoutMs: number): number {
  if (Number.isNaN(timeoutMs)) return 0;
  return Math.min(Math.max(timeoutMs, 0), TIMEOUT_MS_MAX);
}

/** The system's or undici's short code. Messages are left out: they can quote the address. */
function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
