import type { Pool } from 'pg';
import { run, runOne, statement } from './database';

export interface Figures {
  readonly oldestOwedAgeSeconds: number;
  readonly owedReplies: number;
  readonly oldestWaitingSeconds: number;
  readonly openItems: number;
  readonly deliveryUnknown: number;
}

const readFigures = statement<Figures>(
  'read-figures',
  `select
     coalesce((select extract(epoch from clock_timestamp() - min(overdue_from))
       from conversations where owed_since is not null), 0)::float8 as "oldestOwedAgeSeconds",
     (select count(*) from conversations where owed_since is not null) as "owedReplies",
     coalesce((select extract(epoch from clock_timestamp() - min(opened_at))
       from work_items where resolved_at is null), 0)::float8 as "oldestWaitingSeconds",
     (select count(*) from work_items where resolved_at is null) as "openItems",
     (select count(*) from outbox where state = 'delivery_unknown') as "deliveryUnknown"`,
);

/** The figures that must speak when Temporal and every worker are down: from Postgres alone (T9). */
export function readOperatingFigures(pool: Pool): Promise<Figures> {
  return runOne(pool, readFigures);
}

export interface EndedSends {
  readonly channel: string;
  readonly outcome: string;
  readonly count: number;
}

const countSends = statement<EndedSends>(
  'count-sends',
  `select channel, state as outcome, count(*) from outbox
   where state in ('accepted', 'delivered', 'cancelled', 'failed', 'delivery_unknown')
   group by 1, 2`,
);

/** Ended sends by channel and outcome. */
export function countEndedSends(pool: Pool): Promise<EndedSends[]> {
  return run(pool, countSends);
}
