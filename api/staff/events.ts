import type { Request, Response } from 'express';
import type { Pool } from 'pg';
import { readHintsSince, readRecentHints, type StreamHint } from './hints';

/** A transaction may commit this long after the instant with which it touched a conversation. */
const LATE_COMMIT_MS = 10_000;
/** A client that was away longer than this fetches everything again. */
const REPLAY_MS = 30_000;
const HEARTBEAT_MS = 15_000;
const POLL_MS = 400;
/** What a client that reads too slowly may leave unread; then it is cut off and comes back. */
const UNREAD_BYTES_MAX = 64 * 1024;

export interface EventStreamOptions {
  /** Connects as the service role: one poll serves the clients of every business. */
  readonly pool: Pool;
  readonly log: {
    info(fields: Readonly<Record<string, unknown>>, message: string): void;
    warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  };
  readonly pollMs?: number;
  readonly heartbeatMs?: number;
}

/** Server-sent hints of what changed and of notices, from one poll for all clients. */
export interface EventStream {
  /** Answers a request with the hints of one business, until either side ends it. */
  serve(request: Request, response: Response, businessId: string): Promise<void>;
  /** Ends every answer and the poll. What asks afterwards is told to come back. */
  close(): Promise<void>;
}

interface Client {
  readonly businessId: string;
  readonly response: Response;
}

/** Makes the stream. It asks Postgres only while somebody listens. */
export function makeEventStream(options: EventStreamOptions): EventStream {
  const clients = new Set<Client>();
  const poller = makePoller(options, (hint) => {
    for (const client of clients) {
      if (client.businessId === hint.businessId) send(client.response, hint);
    }
  });
  const heartbeat = setInterval(() => {
    for (const { response } of clients) {
      if (response.headersSent) response.write(': still here\n\n');
    }
  }, options.heartbeatMs ?? HEARTBEAT_MS);
  heartbeat.unref();
  let closed = false;

  return {
    serve: async (request, response, businessId) => {
      if (closed) {
        response.status(503).set('Retry-After', '1').end();
        return;
      }
      const client = { businessId, response };
      response.status(200).set(HEADERS);
      clients.add(client);
      response.once('close', () => {
        clients.delete(client);
        if (clients.size === 0) poller.pause();
      });
      // The poll knows what is there before the client hears that it listens: nothing falls between.
      await poller.start();
      if (response.writableEnded || response.destroyed) return;
      response.write('retry: 1000\n\n');
      await replay(options.pool, request, client);
    },
    close: async () => {
      closed = true;
      clearInterval(heartbeat);
      for (const { response } of clients) response.end();
      clients.clear();
      await poller.stop();
    },
  };
}

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
};

function send(response: Response, hint: StreamHint): void {
  if (response.writableLength > UNREAD_BYTES_MAX) {
    response.destroy();
    return;
  }
  const data = JSON.stringify(hint.data);
  response.write(`id: ${hint.atMicros}\nevent: ${hint.event}\ndata: ${data}\n\n`);
}

const EVENT_ID = /^\d{1,18}$/;

/**
 * Event ids are instants, so any process can resume any client: what happened since then, with
 * the margin for late commits, and a `reset` where that reaches back too far.
 */
async function replay(pool: Pool, request: Request, client: Client): Promise<void> {
  const lastId = request.get('last-event-id') ?? '';
  if (!EVENT_ID.test(lastId)) return;
  const hints = await readHintsSince(pool, {
    businessId: client.businessId,
    sinceMicros: lastId,
    marginMs: LATE_COMMIT_MS,
    replayMs: REPLAY_MS,
  });
  if (Date.now() - Number(lastId) / 1_000 > REPLAY_MS) {
    client.response.write('event: reset\ndata: {}\n\n');
  }
  for (const hint of hints) send(client.response, hint);
}

interface Poller {
  /** Begins to poll, and returns once what is already there is known. */
  start(): Promise<void>;
  pause(): void;
  stop(): Promise<void>;
}

/**
 * Reads what happened lately, again and again, and tells of each touch and notice once. A reading covers
 * the margin for late commits and the time since the one before it, so the last reading alone says
 * what is new.
 */
function makePoller(options: EventStreamOptions, tell: (hint: StreamHint) => void): Poller {
  let known: ReadonlyMap<string, string> | null = null;
  let readAtMonotonicMs: number | null = null;
  let failing = false;
  let running = false;
  let generation = 0;
  let timer: NodeJS.Timeout | undefined;
  let reading: Promise<void> = Promise.resolve();

  const readOnce = async (): Promise<void> => {
    const startedMonotonicMs = performance.now();
    const sinceLastMs = startedMonotonicMs - (readAtMonotonicMs ?? startedMonotonicMs);
    try {
      const hints = await readRecentHints(options.pool, LATE_COMMIT_MS + sinceLastMs);
      const before = known;
      known = new Map(hints.map((hint) => [hint.id, hint.atMicros]));
      // The first reading only learns what is there, unless clients waited for it in vain before.
      const isFirst = before === null && !failing;
      for (const hint of hints) {
        if (!isFirst && before?.get(hint.id) !== hint.atMicros) tell(hint);
      }
      if (failing) options.log.info({}, 'the event stream reads again');
      failing = false;
      readAtMonotonicMs = startedMonotonicMs;
    } catch (error) {
      // Clients stay connected: the next reading that works covers what this one missed.
      if (!failing) options.log.warn({ error }, 'the event stream cannot read Postgres');
      failing = true;
    }
  };
  const schedule = (mine: number): void => {
    if (mine !== generation) return;
    timer = setTimeout(() => {
      reading = readOnce().then(() => schedule(mine));
    }, options.pollMs ?? POLL_MS);
  };
  const pause = (): void => {
    generation += 1;
    running = false;
    clearTimeout(timer);
    known = null;
    readAtMonotonicMs = null;
  };
  return {
    start: async () => {
      if (!running) {
        running = true;
        generation += 1;
        const mine = generation;
        reading = reading.then(readOnce).then(() => schedule(mine));
      }
      await reading;
    },
    pause,
    stop: async () => {
      pause();
      await reading;
    },
  };
}
