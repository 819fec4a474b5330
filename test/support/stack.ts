import { Client } from 'pg';
import {
  freePort,
  startProgram,
  startServer,
  waitUntil,
  type Running,
  type TestServer,
} from './processes';

const ROLE_PASSWORD = 'stack-role-password';
export const STACK_TOKEN = 'stack-staff-token';

export interface PhoneEntry {
  readonly at: string;
  readonly from: 'lead' | 'business';
  readonly text: string;
}

export interface Written {
  readonly providerMessageId: string;
  readonly webhookStatus: number;
}

/** The whole product in real processes, with servers of its own and the sandbox around it. */
export interface Stack {
  readonly postgres: TestServer;
  readonly temporal: TestServer;
  readonly apiUrl: string;
  readonly sandboxUrl: string;
  startApi(extra?: NodeJS.ProcessEnv): Promise<Running>;
  startWorker(extra?: NodeJS.ProcessEnv): Running;
  /** Stops every process of that name, if it still runs. */
  stopAll(name: 'api' | 'worker'): Promise<void>;
  /** A lead writes on the sandbox's phone. */
  write(channel: string, lead: string, text: string): Promise<Written>;
  thread(channel: string, lead: string): Promise<PhoneEntry[]>;
  /** What the business sent to a lead, as the provider's own ledger has it. */
  sentTo(lead: string): Promise<string[]>;
  /** How a message was settled; null while it is owed or not stored. */
  settlement(written: Written): Promise<string | null>;
  answered(channel: string, lead: string, count?: number): Promise<PhoneEntry[]>;
  fault(channel: string, fault: string, more?: Readonly<Record<string, unknown>>): Promise<void>;
  sql<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  outcomes(): Promise<Outcomes>;
  close(): Promise<void>;
}

/** What every harness prints: handing everything to people is not a pass. */
export interface Outcomes {
  readonly answered: number;
  readonly handedOver: number;
  readonly unknown: number;
  readonly noAnswer: number;
  readonly owed: number;
}

interface Settings {
  readonly postgres: TestServer;
  readonly temporal: TestServer;
  readonly port: number;
  readonly sandboxPort: number;
}

function environmentOf({ postgres, temporal, port, sandboxPort }: Settings): NodeJS.ProcessEnv {
  const sandbox = `http://127.0.0.1:${sandboxPort}`;
  return {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    TZ: 'UTC',
    NODE_ENV: 'test',
    PORT: String(port),
    SANDBOX_PORT: String(sandboxPort),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    DATABASE_URL: postgres.address,
    DATABASE_ROLE_PASSWORD: ROLE_PASSWORD,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: 'default',
    META_APP_SECRET: 'stack-app-secret',
    META_VERIFY_TOKEN: 'stack-verify-token',
    META_GRAPH_URL: `${sandbox}/graph`,
    TWILIO_ACCOUNT_SID: 'AC00000000000000000000000000000001',
    TWILIO_AUTH_TOKEN: 'stack-twilio-token',
    TWILIO_API_URL: `${sandbox}/twilio`,
    DEMO_TOKEN: STACK_TOKEN,
  };
}

/** Starts servers, sandbox, api and, unless told otherwise, one worker. */
export async function startStack(options: { readonly worker: boolean }): Promise<Stack> {
  const [postgres, temporal] = await Promise.all([
    startServer('postgres'),
    startServer('temporal'),
  ]);
  const settings = { postgres, temporal, port: await freePort(), sandboxPort: await freePort() };
  const env = environmentOf(settings);
  const prepare = startProgram('prepare', 'dev/prepare.js', env);
  const prepared = await prepare.ended;
  if (prepared !== 'code 0') throw new Error(`preparing failed: ${prepare.output.join('\n')}`);
  const running: Running[] = [startProgram('sandbox', 'sandbox/main.js', env)];
  const sandboxUrl = `http://127.0.0.1:${settings.sandboxPort}`;
  const apiUrl = `http://127.0.0.1:${settings.port}`;
  await waitUntil('the sandbox serves', () => getJson(`${sandboxUrl}/accounts`));
  const stack: Stack = {
    ...talk(sandboxUrl, postgres.address),
    postgres,
    temporal,
    apiUrl,
    sandboxUrl,
    startApi: async (extra = {}) => {
      const api = startProgram('api', 'api/main.js', { ...env, ...extra });
      running.push(api);
      await waitUntil('the api is ready', () => getJson(`${apiUrl}/healthz`));
      return api;
    },
    startWorker: (extra = {}) => {
      const worker = startProgram('worker', 'workers/main.js', { ...env, ...extra });
      running.push(worker);
      return worker;
    },
    stopAll: async (name) => {
      const wanted = running.filter((one) => one.name === name && one.isRunning());
      await Promise.all(wanted.map((one) => one.stop()));
    },
    close: async () => {
      await Promise.all(running.filter((one) => one.isRunning()).map((one) => one.stop()));
      await Promise.all([postgres.close(), temporal.close()]);
    },
  };
  await stack.startApi();
  if (options.worker) stack.startWorker();
  return stack;
}

async function getJson<Body>(url: string): Promise<Body> {
  const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return (await response.json()) as Body;
}

async function postJson<Body>(url: string, body: unknown): Promise<Body> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  const text = await response.text();
  return (text === '' ? {} : JSON.parse(text)) as Body;
}

type Talk = Pick<
  Stack,
  'write' | 'thread' | 'sentTo' | 'settlement' | 'answered' | 'fault' | 'sql' | 'outcomes'
>;

function talk(sandboxUrl: string, databaseUrl: string): Talk {
  const thread: Stack['thread'] = (channel, lead) =>
    getJson(`${sandboxUrl}/phone/${channel}/threads/${encodeURIComponent(lead)}`);
  const sql: Stack['sql'] = async <Row>(text: string, values: readonly unknown[] = []) => {
    const client = new Client({ connectionString: databaseUrl });
    await client.connect();
    try {
      return (await client.query(text, [...values])).rows as Row[];
    } finally {
      await client.end();
    }
  };
  return {
    thread,
    sql,
    write: (channel, lead, text) =>
      postJson(`${sandboxUrl}/phone/${channel}/messages`, { lead, text }),
    settlement: async ({ providerMessageId }) => {
      const [row] = await sql<{ settlement: string | null }>(
        'select settlement from messages where provider_message_id = $1',
        [providerMessageId],
      );
      return row?.settlement ?? null;
    },
    sentTo: async (lead) => {
      const ledger = await getJson<{ lead: string; text: string }[]>(`${sandboxUrl}/ledger`);
      return ledger.filter((entry) => entry.lead === lead).map((entry) => entry.text);
    },
    answered: (channel, lead, count = 1) =>
      waitUntil(`${lead} is answered ${count} time(s) on ${channel}`, async () => {
        const entries = await thread(channel, lead);
        const answers = entries.filter((entry) => entry.from === 'business');
        return answers.length >= count ? answers : null;
      }),
    fault: async (channel, fault, more = {}) => {
      await postJson(`${sandboxUrl}/faults`, { channel, fault, count: 1, ...more });
    },
    outcomes: async () => {
      const [row] = await sql<Outcomes>(OUTCOMES);
      if (row === undefined) throw new Error('outcomes give one row');
      return row;
    },
  };
}

const OUTCOMES = `
  select count(*) filter (where settlement in ('reply', 'person'))::int as answered,
    count(*) filter (where settlement = 'work-item' and settlement_reason <> 'delivery_unknown')::int
      as "handedOver",
    count(*) filter (where settlement_reason = 'delivery_unknown')::int as unknown,
    count(*) filter (where settlement = 'no-answer')::int as "noAnswer",
    count(*) filter (where settled_at is null)::int as owed
  from messages where owes`;
