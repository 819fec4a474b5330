/** The worker half of the plain responder: takes a job, calls the provider, marks it done. */
import { Logger, run, runMigrations } from 'graphile-worker';
import { Client } from 'pg';
import { makeHttpClient } from '../channels/http';
import { makeMessengerSender } from '../channels/meta/messenger-senders';
import { newId } from '../db/new-id';
import type { LeadAddress } from '../domain/inbound';
import { ANSWER, required } from './responder';
import { serveParent } from './parent';

const CONCURRENCY = 10;
const LOUD: readonly string[] = ['error', 'warning'];
const CALL_TIMEOUT_MS = 10_000;

const connectionString = required('BENCH_DATABASE_URL');
const sender = makeMessengerSender({
  http: makeHttpClient(),
  graphUrl: required('META_GRAPH_URL'),
});
const logger = new Logger(() => (level, message) => {
  if (LOUD.includes(level)) console.error(message);
});

interface AnswerJob {
  readonly account: string;
  readonly to: readonly LeadAddress[];
}

async function answer(payload: unknown): Promise<void> {
  const { account, to } = payload as AnswerJob;
  const outcome = await sender.send(
    {
      channel: 'messenger',
      accountExternalId: account,
      credentials: { accessToken: 'bench' },
      attemptId: newId('att'),
      to,
      text: ANSWER,
    },
    { timeoutMs: CALL_TIMEOUT_MS },
  );
  if (outcome.kind !== 'accepted') throw new Error('the provider did not accept');
}

async function main(): Promise<void> {
  await runMigrations({ connectionString, logger });
  const client = new Client({ connectionString });
  await client.connect();
  await client.query(
    `create table bench_messages (
       id bigint generated always as identity primary key, account text not null,
       lead text not null, body text, received_at timestamptz not null default now())`,
  );
  await client.end();
  await run({ connectionString, logger, concurrency: CONCURRENCY, taskList: { answer } });
  serveParent({}, {});
}

void main();
