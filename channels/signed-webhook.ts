import { Webhook } from 'standardwebhooks';
import type { HttpClient, HttpEnding, HttpHeaders } from './http';
import { retryAfterMs } from './outcomes';
import type { PostOutcome, PostSigned, SignedPost } from './port';

/**
 * Posts JSON signed after Standard Webhooks (https://www.standardwebhooks.com) over the client all
 * senders share: written at most once, no redirect followed, the answer's size limited and its
 * content not read. Any 2xx accepts. A refused connection, 429, and 503 with Retry-After back off;
 * 401 and 403 pause; other 3xx and 4xx are final; what may have arrived is unknown.
 */
export function makePostSigned(http: HttpClient): PostSigned {
  return async (post) => {
    const url = httpUrl(post.url);
    if (url === null) return refused('bad-url', 'never');
    const body = JSON.stringify(post.body);
    const signed = sign(post, body);
    if (signed === null) return refused('bad-secret', 'pause');
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Unsilent-Webhooks/1',
      'webhook-id': post.id,
      ...signed,
    };
    const ending = await http.call({
      method: 'POST',
      url,
      headers,
      body,
      timeoutMs: post.timeoutMs,
    });
    return outcomeOfPost(ending);
  };
}

function httpUrl(text: string): URL | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : null;
}

/** Null where the secret cannot be one: a mistake of the settings, mended as credentials are. */
function sign(post: SignedPost, body: string): Record<string, string> | null {
  const at = new Date();
  let webhook: Webhook;
  try {
    webhook = new Webhook(post.secret);
  } catch {
    return null;
  }
  return {
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': webhook.sign(post.id, at, body),
  };
}

function outcomeOfPost(ending: HttpEnding): PostOutcome {
  if (ending.kind === 'unsent') return refused(ending.code, 'back-off');
  // A status that arrived counts even where the rest of the answer was cut off: nobody reads it.
  if (ending.status === null) return { kind: 'unknown', code: codeOfLost(ending) };
  return outcomeOfStatus(ending.status, ending.headers);
}

function codeOfLost(ending: HttpEnding): string {
  return ending.kind === 'lost' ? ending.code : 'no-status';
}

function outcomeOfStatus(status: number, headers: HttpHeaders): PostOutcome {
  if (status >= 200 && status < 300) return { kind: 'accepted' };
  const code = `http-${status}`;
  const waitMs = retryAfterMs(headers);
  if (status === 429) return refused(code, 'back-off', waitMs);
  if (status === 503 && waitMs !== null) return refused(code, 'back-off', waitMs);
  if (status === 401 || status === 403) return refused(code, 'pause');
  // 408 comes from a server that may have read a part, or all, of the request.
  if (status >= 300 && status < 500 && status !== 408) return refused(code, 'never');
  return { kind: 'unknown', code };
}

function refused(
  code: string,
  action: 'pause' | 'back-off' | 'never',
  waitMs: number | null = null,
): PostOutcome {
  return {
    kind: 'not-accepted',
    code,
    retry: action === 'never' ? 'never' : 'back-off',
    retryAfterMs: waitMs,
    pausesAccount: action === 'pause',
  };
}
