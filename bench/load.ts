/**
 * The load generator: posts Messenger webhooks, signed as Meta signs, at arrival times that were
 * fixed before. A request never waits for an earlier one (open loop).
 */
import { createHmac, randomUUID } from 'node:crypto';
import { Agent, request } from 'undici';
import { sharedMs, wallMs } from './clock';
import { serveParent } from './parent';

export interface Arrival {
  /** Ms after the start. */
  readonly atMs: number;
  readonly lead: string;
  readonly text: string;
}

interface LoadOrder {
  readonly url: string;
  readonly appSecret: string;
  readonly pageId: string;
  readonly arrivals: readonly Arrival[];
}

/** One webhook: when it should have left, when it left, and when its answer came. */
export interface LoadSample {
  readonly lead: string;
  readonly mid: string;
  readonly intendedMs: number;
  readonly sentMs: number;
  readonly answeredMs: number;
  readonly intendedWallMs: number;
  readonly answeredWallMs: number;
  /** The HTTP status; 0 where there was no answer. */
  readonly status: number;
}

const ANSWER_TIMEOUT_MS = 30_000;
/** The first arrival keeps some distance to the order that asked for it. */
const LEAD_IN_MS = 200;

const agent = new Agent({ connections: 512, pipelining: 1, keepAliveTimeout: 3_000 });

function bodyOf(pageId: string, { lead, text }: Arrival, mid: string): string {
  const timestamp = Date.now();
  const item = {
    sender: { id: lead },
    recipient: { id: pageId },
    timestamp,
    message: { mid, text },
  };
  return JSON.stringify({
    object: 'page',
    entry: [{ id: pageId, time: timestamp, messaging: [item] }],
  });
}

async function post(order: LoadOrder, arrival: Arrival, startMs: number): Promise<LoadSample> {
  const mid = `m_${randomUUID().replaceAll('-', '')}`;
  const body = bodyOf(order.pageId, arrival, mid);
  const signature = createHmac('sha256', order.appSecret).update(body).digest('hex');
  const headers = {
    'content-type': 'application/json',
    'x-hub-signature-256': `sha256=${signature}`,
  };
  const sentMs = sharedMs();
  const status = await statusOf(order.url, { headers, body });
  const answeredMs = sharedMs();
  const answeredWallMs = wallMs();
  const intendedMs = startMs + arrival.atMs;
  const intendedWallMs = answeredWallMs - (answeredMs - intendedMs);
  const { lead } = arrival;
  return { lead, mid, intendedMs, sentMs, answeredMs, intendedWallMs, answeredWallMs, status };
}

async function statusOf(
  url: string,
  { headers, body }: { readonly headers: Record<string, string>; readonly body: string },
): Promise<number> {
  try {
    const response = await request(url, {
      dispatcher: agent,
      method: 'POST',
      headers,
      body,
      headersTimeout: ANSWER_TIMEOUT_MS,
      bodyTimeout: ANSWER_TIMEOUT_MS,
    });
    await response.body.dump();
    return response.statusCode;
  } catch (error) {
    console.error('a webhook got no answer:', error);
    return 0;
  }
}

async function run(order: LoadOrder): Promise<LoadSample[]> {
  const startMs = sharedMs() + LEAD_IN_MS;
  const samples = order.arrivals.map(
    (arrival) =>
      new Promise<LoadSample>((resolve) => {
        const waitMs = startMs + arrival.atMs - sharedMs();
        setTimeout(() => resolve(post(order, arrival, startMs)), waitMs);
      }),
  );
  return Promise.all(samples);
}

serveParent({}, { run: (argument) => run(argument as LoadOrder) });
