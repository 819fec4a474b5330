import express, { type Router } from 'express';
import { makeEventStream } from '../../../api/staff/events';
import { pathOf, type AnyEndpoint } from '../../../api/staff/endpoint';
import { ENDPOINTS } from '../../../api/staff/endpoints';
import { makeStaffRouter } from '../../../api/staff/router';
import { STAFF_COMMANDS } from '../../../db/commands/contract';
import { runStaffCommand } from '../../../db/commands/run';
import { sha256 } from '../../../db/digest';
import { FACT_TABLES } from '../../support/facts';
import { answerIntoTheUnknown } from '../../support/answering';
import { SAMPLE_COMMANDS } from '../../support/staff-commands';
import { makeWorld, STAFF_TOKEN, type World } from '../../support/world';
import { serve, type Served } from '../../unit/api/serving';
import { act, draftFor } from './scene';

const OTHER = `biz_${'2'.repeat(32)}`;
const OTHER_TOKEN = 'token-of-the-other-business';
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Its own test file opens streams; here only whoever is nobody is turned away. */
const STREAM = '/events';

let world: World;
let router: Router;
let served: Served;
/** Ids of the demo business, by the part of the path that they belong to. */
let ids: Readonly<Record<string, string>>;

beforeAll(async () => {
  world = await makeWorld();
  const { owner, service, staff } = world.database;
  await owner.query(
    `insert into businesses (id, name, time_zone, services, policy_version, created_at)
     values ($1, 'Fox Roofing', 'America/New_York', '[]', 'policy-2026-11', now())`,
    [OTHER],
  );
  await owner.query(
    `insert into staff_tokens (token_sha256, business_id, role, created_at)
     values ($1, $2, 'owner', now())`,
    [sha256(OTHER_TOKEN), OTHER],
  );
  router = makeStaffRouter({
    staffPool: staff,
    tokenPool: service,
    runCommand: async (request) => runStaffCommand(staff, request, await world.clock.now()),
    wake: () => undefined,
    events: makeEventStream({ pool: service, log: silent }),
    log: silent,
  });
  const app = express();
  app.use('/api', router);
  served = await serve(app);
  await world.write({ text: 'My sink leaks' });
  const { conversationId, sendId } = await answerIntoTheUnknown(world);
  await world.write({ text: 'Hello?' });
  await draftFor(world, conversationId);
  await act(world, conversationId, { command: 'note', text: 'A note of ours.' });
  const [item] = await world.rows("select id from work_items where kind = 'approval'");
  ids = { conversations: conversationId, escalations: String(item?.['id']), deliveries: sendId };
});
afterAll(async () => {
  await served.close();
  await world.reset();
  await world.close();
});

/** The routes that the router itself answers, not the list that documents them. */
function routesOf(given: Router): string[] {
  return given.stack.flatMap(({ route }) => {
    if (route === undefined) return [];
    return route.stack.map((layer) => `${layer.method} ${route.path}`);
  });
}

/** A body with which the operation would act on a thing of one's own. */
function bodyFor(endpoint: AnyEndpoint): Record<string, unknown> {
  if (endpoint.operationId === 'settleDelivery') return { arrived: true };
  const command = STAFF_COMMANDS.find((name) => endpoint.path === `/conversations/{id}/${name}`);
  if (command === undefined) return { seenSeq: 99 };
  const said = Object.entries(SAMPLE_COMMANDS[command]).filter(
    ([field, value]) => field !== 'command' && value !== null,
  );
  return { seenSeq: 99, ...Object.fromEntries(said) };
}

async function ask(endpoint: AnyEndpoint, token: string | null) {
  const thing = /^\/(\w+)\//.exec(endpoint.path)?.[1] ?? '';
  const path = endpoint.path.replace('{id}', ids[thing] ?? 'no-such-id');
  const response = await fetch(`${served.url}/api${path}`, {
    method: endpoint.method.toUpperCase(),
    headers: {
      ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
      'Idempotency-Key': crypto.randomUUID(),
      ...(endpoint.method === 'post' ? { 'Content-Type': 'application/json' } : {}),
    },
    ...(endpoint.method === 'post' ? { body: JSON.stringify(bodyFor(endpoint)) } : {}),
  });
  const text = await response.text();
  return { status: response.status, text, body: bodyOf(text) };
}

function bodyOf(text: string): { code?: unknown; items?: unknown } {
  return text === '' ? {} : (JSON.parse(text) as { code?: unknown; items?: unknown });
}

/** Every fact there is, so that "changes nothing" means nothing. */
async function facts(): Promise<unknown> {
  return Promise.all(
    FACT_TABLES.map((table) => world.rows(`select t::text from ${table} t order by 1`)),
  );
}

const named = ENDPOINTS.map(
  (endpoint) => [`${endpoint.method.toUpperCase()} ${endpoint.path}`, endpoint] as const,
);
const addressed = named.filter(([, { path }]) => path.includes('{id}'));
const listed = named.filter(([, { path }]) => !path.includes('{id}') && path !== STREAM);

describe('the authorisation table', () => {
  it('has a row for every route of the router, and for no other [SEC1]', () => {
    const documented = ENDPOINTS.map((endpoint) => `${endpoint.method} ${pathOf(endpoint)}`);
    expect([...routesOf(router)].sort()).toEqual([...documented].sort());
  });

  it.each(named)(
    '%s turns away whoever shows no token, or a false one [SEC1]',
    async (_name, endpoint) => {
      for (const token of [null, 'no-token-of-anybody']) {
        const { status, body } = await ask(endpoint, token);
        expect([status, body.code]).toEqual([401, 'unauthenticated']);
      }
    },
  );

  it.each(addressed)(
    '%s of another business is not found and changes nothing [SEC1]',
    async (_name, endpoint) => {
      const before = await facts();
      const { status, body } = await ask(endpoint, OTHER_TOKEN);
      expect([status, body.code]).toEqual([404, 'not_found']);
      expect(await facts()).toEqual(before);
    },
  );

  it.each(listed)('%s shows another business nothing of ours [SEC1]', async (_name, endpoint) => {
    const { status, text, body } = await ask(endpoint, OTHER_TOKEN);
    expect([status, body.items]).toEqual([200, []]);
    for (const id of Object.values(ids)) expect(text).not.toContain(id);
  });

  it.each(addressed.filter(([, { method }]) => method === 'get'))(
    '%s shows the business its own [SEC1]',
    async (_name, endpoint) => {
      const { status } = await ask(endpoint, STAFF_TOKEN);
      expect(status).toBe(200);
    },
  );
});
