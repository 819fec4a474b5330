import type { Pool } from 'pg';
import { inTransaction, run, runOne, statement, type Executor } from './database';
import { COUNTED } from './figures-counted';

/** One value of a counter, with its labels as canonical JSON. */
export interface CountedFigure {
  readonly name: string;
  readonly labels: string;
  readonly value: number;
}

const readEnd = statement<{ through: string; due: string | null }>(
  'read-rollup-end',
  `select coalesce(max(r.through), '-infinity')::text as through,
     case when n.cut >= coalesce(max(r.through), '-infinity') + interval '1 day' then n.cut::text
       end as due
   from (select date_trunc('day', coalesce($1::timestamptz, now()), 'UTC') - interval '2 days'
     as cut) n
   left join figure_rollups r on true group by n.cut`,
);

const insertRollup = statement(
  'insert-figure-rollup',
  `insert into figure_rollups (through, name, labels, value)
   select $2::timestamptz, f.name, f.labels, f.value from (${COUNTED}) f
   union all select $2::timestamptz, '', '{}', 0
   on conflict do nothing`,
);

/**
 * Once a day adds up what the counters of `/metrics` counted before the day before yesterday: by
 * then no fact with an earlier time is added any more. Two processes at once store one and the
 * same rollup.
 */
export async function rollUpFigures(pool: Pool, now: string | null): Promise<void> {
  await inTransaction(pool, async (client) => {
    const { through, due } = await runOne(client, readEnd, [now]);
    if (due !== null) await run(client, insertRollup, [through, due]);
  });
}

const readCounters = statement<CountedFigure>(
  'read-counters',
  `with rolled as (select coalesce(max(through), '-infinity') as through from figure_rollups)
   select name, labels, sum(value)::float8 as value from (
     select name, labels, value from figure_rollups where name <> ''
     union all select f.name, f.labels, f.value from (${COUNTED.replaceAll(
       '$1::timestamptz',
       '(select through from rolled)',
     ).replaceAll('$2::timestamptz', `'infinity'::timestamptz`)}) f) t
   group by name, labels order by name, labels`,
);

/** Every counter of `/metrics`: its rollups and what came since. It never falls. */
export function readCountedFigures(executor: Executor): Promise<CountedFigure[]> {
  return run(executor, readCounters);
}
