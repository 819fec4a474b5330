import type { Pool } from 'pg';
import { readNoticesSince, readRecentNotices, type NoticeHint } from '../../db/notices';
import { readRecentlyTouched, readTouchedSince, type TouchedRow } from '../../db/queries/touched';

/** One event of the stream: a hint to look again, without content. */
export interface StreamHint {
  /** What it is about; a later hint of the same thing has a later instant. */
  readonly id: string;
  readonly businessId: string;
  readonly event: 'conversation' | 'notice';
  /** Microseconds since the epoch, as digits: the event's id, by which a client resumes. */
  readonly atMicros: string;
  readonly data: unknown;
}

function ofConversation({ id, businessId, version, touchedMicros }: TouchedRow): StreamHint {
  return {
    id,
    businessId,
    event: 'conversation',
    atMicros: touchedMicros,
    data: { id, version },
  };
}

function ofNotice({ id, businessId, queue, items, createdMicros }: NoticeHint): StreamHint {
  return {
    id,
    businessId,
    event: 'notice',
    atMicros: createdMicros,
    data: { id, queue, items },
  };
}

/** Every business's hints of the last `lookBackMs`; whoever asks again sees some twice. */
export async function readRecentHints(pool: Pool, lookBackMs: number): Promise<StreamHint[]> {
  const [touched, notices] = await Promise.all([
    readRecentlyTouched(pool, lookBackMs),
    readRecentNotices(pool, lookBackMs),
  ]);
  return [...touched.map(ofConversation), ...notices.map(ofNotice)];
}

/** One business's hints since an event, with a margin before it for late commits. */
export async function readHintsSince(
  pool: Pool,
  since: {
    readonly businessId: string;
    readonly sinceMicros: string;
    readonly marginMs: number;
    readonly replayMs: number;
  },
): Promise<StreamHint[]> {
  const [touched, notices] = await Promise.all([
    readTouchedSince(pool, since),
    readNoticesSince(pool, since),
  ]);
  return [...touched.map(ofConversation), ...notices.map(ofNotice)];
}
