import { ageAttempts, answer, answerIntoTheUnknown } from '../../support/answering';
import type { World } from '../../support/world';
import { command, queuedFollowUp } from '../races/scene';

/** What stands in the database before a fact is broken by hand. */
export const SCENES = {
  owed: async (world: World) => {
    await world.write({ text: 'My sink leaks' });
  },
  answered: async (world: World) => {
    await world.write({ text: 'My sink leaks' });
    await answer(world);
  },
  unknown: async (world: World) => {
    await world.write({ text: 'My sink leaks' });
    await answerIntoTheUnknown(world);
  },
  claimed: async (world: World) => {
    await world.write({ text: 'My sink leaks' });
    const { conversationId } = await answer(world);
    world.clock.advance(60_000);
    await command(world, conversationId, 'claim');
  },
  'followed up': async (world: World) => {
    const send = await queuedFollowUp(world);
    await world.activities.deliver(send);
    await ageAttempts(world, 1);
  },
  repeated: async (world: World) => {
    await world.write({ text: 'My sink leaks', id: 'SM1' });
    await world.write({ text: 'My sink leaks', id: 'SM1' });
  },
} as const;

/** A fact that is broken as the owner with triggers off, and the sentence that must say so. */
export interface Broken {
  readonly says: string;
  readonly scene: keyof typeof SCENES;
  readonly sql: string;
}

/** Copies the only attempt under a new number, `changes` replacing some of its columns. */
export const attemptAgain = (changes: Readonly<Record<string, string>> = {}): string => {
  const columns = [
    ...['id', 'business_id', 'send_id', 'conversation_id', 'address_id', 'purpose', 'number'],
    ...['decision_id', 'not_before', 'expires_at', 'conversation_version', 'saw_seq', 'started_at'],
  ];
  const copied: Record<string, string> = { id: `'att_x'`, number: '2', ...changes };
  return `insert into send_attempts (${columns.join(', ')})
    select ${columns.map((column) => copied[column] ?? `a.${column}`).join(', ')}
    from send_attempts a`;
};

export const many = (from: number, to: number, changes: Readonly<Record<string, string>>): string =>
  `${attemptAgain({
    id: `'att_' || n`,
    number: 'n::int',
    started_at: `a.started_at + n * interval '1 second'`,
    ...changes,
  })}, generate_series(${from}, ${to}) n`;

/** Copies the only row of a table, `changes` replacing some of its columns. */
export const copied = (table: string, changes: Readonly<Record<string, string>>): string => {
  const values = Object.entries(changes).map(([column, value]) => `'${column}', ${value}`);
  return `insert into ${table} select (jsonb_populate_record(t,
    jsonb_build_object(${values.join(', ')}))).* from ${table} t`;
};

/** Drops what a unique key would refuse, so that the check is what sees it. */
export const without = (constraint: string, sql: string): string => `${constraint}; ${sql}`;
