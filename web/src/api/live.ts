import { ApiError } from './client';
import type { Hint, NoticeHint, Problem } from '../generated/api';

export type LiveState = 'connecting' | 'live' | 'reconnecting';

export interface LiveHandlers {
  /** The stream is open: whatever was missed before must be fetched again. */
  readonly onOpen: () => void;
  readonly onHint: (hint: Hint) => void;
  /** Things wait for a person. */
  readonly onNotice: (notice: NoticeHint) => void;
  readonly onReset: () => void;
  readonly onState: (state: LiveState) => void;
  readonly onUnauthenticated: () => void;
}

const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 30_000;
/** The server says something every 15 s; twice that without a word means that the line is dead. */
const SILENCE_MS = 35_000;

/**
 * Listens to `/api/events` until `signal` aborts. The browser's own EventSource cannot send the
 * Authorization header, so this reads the stream itself: it comes back with growing pauses and
 * says where it stopped.
 */
export async function listenForHints(
  token: string,
  handlers: LiveHandlers,
  signal: AbortSignal,
): Promise<void> {
  let lastEventId = '';
  let failures = 0;
  const isOver = (): boolean => signal.aborted;
  handlers.onState('connecting');
  while (!isOver()) {
    try {
      await readOnce(token, lastEventId, signal, (event) => {
        failures = 0;
        if (event.kind === 'open') {
          handlers.onState('live');
          handlers.onOpen();
        } else if (event.kind === 'hint') {
          lastEventId = event.id;
          handlers.onHint(event.hint);
        } else if (event.kind === 'notice') {
          lastEventId = event.id;
          handlers.onNotice(event.notice);
        } else {
          handlers.onReset();
        }
      });
    } catch (error) {
      if (error instanceof ApiError && error.problem.status === 401) {
        handlers.onUnauthenticated();
        return;
      }
      // Everything else is a line that broke; the sign says so and the next try follows.
      failures += 1;
    }
    if (isOver()) return;
    handlers.onState('reconnecting');
    await pause(delayMs(failures), signal);
  }
}

function delayMs(failures: number): number {
  const grown = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.max(0, failures - 1));
  return grown * (0.75 + Math.random() / 2);
}

/** Waits, but no longer than until the machine is online again or the tab is looked at. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      window.removeEventListener('online', done);
      document.removeEventListener('visibilitychange', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    window.addEventListener('online', done);
    document.addEventListener('visibilitychange', done);
    signal.addEventListener('abort', done);
  });
}

type StreamEvent =
  | { readonly kind: 'open' }
  | { readonly kind: 'hint'; readonly id: string; readonly hint: Hint }
  | { readonly kind: 'notice'; readonly id: string; readonly notice: NoticeHint }
  | { readonly kind: 'reset' };

async function readOnce(
  token: string,
  lastEventId: string,
  signal: AbortSignal,
  tell: (event: StreamEvent) => void,
): Promise<void> {
  const silence = new AbortController();
  const response = await fetch('/api/events', {
    headers: {
      Accept: 'text/event-stream',
      Authorization: `Bearer ${token}`,
      ...(lastEventId === '' ? {} : { 'Last-Event-ID': lastEventId }),
    },
    signal: AbortSignal.any([signal, silence.signal]),
  });
  if (response.status === 401) throw new ApiError((await response.json()) as Problem);
  if (!response.ok || response.body === null) throw new Error(`answered ${response.status}`);
  tell({ kind: 'open' });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const timer = setTimeout(() => {
      silence.abort();
    }, SILENCE_MS);
    const { done, value } = await reader.read().finally(() => {
      clearTimeout(timer);
    });
    if (done) return;
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = parseBlock(block);
      if (event !== null) tell(event);
    }
  }
}

/** One block of the stream; null for comments and what this version does not know. */
function parseBlock(block: string): StreamEvent | null {
  const fields = new Map(
    block.split('\n').map((line) => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)];
    }),
  );
  const data = fields.get('data');
  const event = fields.get('event');
  if (event === 'reset') return { kind: 'reset' };
  if (data === undefined) return null;
  const id = fields.get('id') ?? '';
  if (event === 'notice') return { kind: 'notice', id, notice: JSON.parse(data) as NoticeHint };
  if (event !== 'conversation') return null;
  return { kind: 'hint', id, hint: JSON.parse(data) as Hint };
}
