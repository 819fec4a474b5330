import type { Pool } from 'pg';
import type { ChannelSender } from '../channels/port';
import type { Reach } from '../config/failpoints';
import type { Clock } from '../db/clock';
import type { Channel } from '../domain/inbound';
import type { BusinessProfile, Draft, ThreadMessage, Understanding } from '../domain/understanding';

/** Reads and words a turn. The deterministic engine fills it; a model may later (P2). */
export interface Engine {
  understand(thread: readonly ThreadMessage[], profile: BusinessProfile): Understanding;
  draft(
    thread: readonly ThreadMessage[],
    understanding: Understanding,
    profile: BusinessProfile,
  ): Draft;
}

/** A log of ids and words, never of content. */
export interface ActivityLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

export interface ActivityDependencies {
  /** Claims, gates, turns. */
  readonly pool: Pool;
  /** Two connections of their own for the sent marker and its record (design.md). */
  readonly markerPool: Pool;
  readonly senders: Readonly<Record<Channel, ChannelSender>>;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly log: ActivityLog;
  /** Keys the hashes of source ids in logs (C8). */
  readonly hashKey: string;
  /** Names this worker in leases. */
  readonly workerId: string;
  /** Tells Temporal that the activity's worker lives. */
  readonly beat: () => void;
  /** Says that a named point was reached; in production nobody listens. */
  readonly reach: Reach;
}
