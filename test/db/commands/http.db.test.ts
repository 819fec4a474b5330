import express from 'express';
import { makeEventStream } from '../../../api/staff/events';
import { makeStaffRouter } from '../../../api/staff/router';
import type { WakeTarget } from '../../../db/due';
import { runStaffCommand } from '../../../db/commands/run';
import { answerIntoTheUnknown } from '../../support/answering';
import { runUntilIdle } from '../../support/run-until-idle';
import { makeWorld, STAFF_TOKEN, type World } from '../../support/world';
import { serve, type Served } from '../../unit/api/serving';
import { draftFor } from './scene';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Whatever an operation answers; each test reads the members of its own. */
interface Answer {
  [member: string]: unknown;
  items: { id: string; kind: string; queue: string; resolution: string | null }[];
  entries: { kind: string; text: string; tone: string }[];
}

let world: World;
let served: Served;
const woken: WakeTarget[] = [];

beforeAll(async () => {
  world = await makeWorld();
  const { service, staff } = world.database;
  const app = express();
  app.use(
    '/api',
    makeStaffRouter({
      staffPool: staff,
      tokenPool: service,
      runCommand: async (request) => runStaffCommand(staff, request, await world.clock.now()),
      wake: (target) => woken.push(target),
      events: makeEventStream({ pool: service, log: silent }),
      log: silent,
    }),
  );
  served = await serve(app);
});
afterEach(async () => {
  woken.length = 0;
  await world.reset();
});
afterAll(async () => {
  await served.close();
  await world.close();
});

async function call(
  path: string,
  init: Omit<RequestInit, 'headers'> & { readonly headers?: Readonly<Record<string, string>> } = {},
) {
  const headers = { Authorization: `Bearer ${STAFF_TOKEN}`, ...init.headers };
  const response = await fetch(`${served.url}/api${path}`, { ...init, headers });
  return { status: response.status, body: (await response.json()) as Answer };
}

function post(path: string, body: unknown, key: string = crypto.randomUUID()) {
  return call(path, {
    method: 'POST',
    headers: { 'Idempotency-Key': key, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function waitingLead(): Promise<string> {
  await world.write({ text: 'My sink leaks' });
  return (await world.conversation()).id;
}

const story = async (id: string) =>
  (await call(`/conversations/${id}/timeline`)).body.entries.map(({ text }) => text);

describe('staff over HTTP', () => {
  it('a reply is queued, wakes the conversation, and is told in the story with the note beside it [T3] [O1]', async () => {
    const id = await waitingLead();
    const reply = await post(`/conversations/${id}/reply`, { text: 'We can come on Friday.' });
    expect(reply).toMatchObject({ status: 200, body: { conversationId: id, owner: 'person' } });
    expect(woken).toEqual([expect.objectContaining({ id, owner: 'person' })]);
    await post(`/conversations/${id}/note`, { text: 'Prefers mornings.' });
    await runUntilIdle(world, id, { forMs: 0 });
    const told = await story(id);
    for (const line of [
      'A person wrote to the lead, so automation waits. The state is now “Paused”.',
      'A person wrote to the lead; it may leave at once.',
      'We can come on Friday.',
      'The owner noted: Prefers mornings.',
      'Staff settled this: the lead got an answer.',
    ]) {
      expect(told.some((text) => sameWords(text, line))).toBe(true);
    }
  });

  it('that the answer was with a person stays told after it was given back [T6]', async () => {
    const id = await waitingLead();
    await post(`/conversations/${id}/claim`, {});
    const held = 'The answer is now with a person.';
    expect(await story(id)).toContain(held);
    await post(`/conversations/${id}/release`, { seenSeq: 1 });
    expect(await story(id)).toContain(held);
    await runUntilIdle(world, id, { forMs: 0 });
    expect((await story(id)).filter((text) => text === held)).toHaveLength(1);
  });

  it('a draft, its approval and a postponement are told in plain words [T3] [C2]', async () => {
    const id = await waitingLead();
    await draftFor(world, id);
    await post(`/conversations/${id}/approve`, { seenSeq: 1 });
    const until = new Date(world.clock.epochMs + 10 * 60_000).toISOString();
    await post(`/conversations/${id}/postpone`, { until, reason: 'They are at work.' });
    await post(`/conversations/${id}/send-now`, {});
    const told = await story(id);
    for (const line of [
      'The drafted answer waits until a person approves it.',
      'A person approved the answer; it may leave at once.',
      'A person postponed the answer; it may leave in 10 min.',
      'The owner noted: They are at work.',
      'A person decided that the answer does not wait any longer.',
    ]) {
      expect(told.some((text) => sameWords(text, line))).toBe(true);
    }
    await runUntilIdle(world, id, { forMs: 0 });
  });

  it('work items are listed by state, kind and queue [C7]', async () => {
    const id = await waitingLead();
    await post(`/conversations/${id}/pause`, {});
    const open = await call('/escalations');
    const item = open.body.items[0];
    expect(open.body.items).toHaveLength(1);
    const count = async (query: string) => (await call(`/escalations?${query}`)).body.items.length;
    expect(await count('kind=handoff&queue=front-desk')).toBe(1);
    expect(await count('kind=approval')).toBe(0);
    expect(await count('queue=operators')).toBe(0);
    expect(await count('state=resolved')).toBe(0);
    const claimed = await post(`/escalations/${item?.id}/claim`, {});
    expect(claimed).toMatchObject({ status: 200, body: { workItemId: item?.id } });
    const resolved = await post(`/escalations/${item?.id}/resolve`, {
      seenSeq: 1,
      resolution: 'answered',
    });
    expect(resolved).toMatchObject({ status: 200, body: { resolution: 'answered' } });
    expect(await count('state=open')).toBe(0);
    expect((await call('/escalations?state=resolved')).body.items).toEqual([
      expect.objectContaining({ id: item?.id, resolution: 'answered' }),
    ]);
    expect((await call('/escalations?kind=nonsense')).status).toBe(400);
  });

  it('an unknown delivery is listed, settled once, and gone from the list [C6]', async () => {
    await waitingLead();
    const { sendId, conversationId } = await answerIntoTheUnknown(world);
    const list = () => call('/deliveries?state=delivery_unknown');
    expect((await list()).body.items.map((row) => row.id)).toEqual([sendId]);
    const settled = await post(`/deliveries/${sendId}/settle`, { arrived: true }, 'key-1');
    expect(settled).toMatchObject({ status: 200, body: { conversationId } });
    const again = await post(`/deliveries/${sendId}/settle`, { arrived: true }, 'key-1');
    expect(again).toEqual(settled);
    const other = await post(`/deliveries/${sendId}/settle`, { arrived: false }, 'key-1');
    expect(other).toMatchObject({ status: 422, body: { code: 'key_reused' } });
    const late = await post(`/deliveries/${sendId}/settle`, { arrived: false });
    expect(late).toMatchObject({ status: 409, body: { code: 'not_applicable' } });
    expect((await list()).body.items).toEqual([]);
  });

  it.each([
    ['reply', {}],
    ['reply', { text: '' }],
    ['reply', { text: 7 }],
    ['note', { text: 'x'.repeat(10_001) }],
    ['reject', { seenSeq: 1 }],
    ['postpone', { reason: 'later' }],
    ['postpone', { until: 'tomorrow' }],
    ['postpone', { until: '2026-11-30T19:00:00' }],
    ['send-now', { sendId: 'snd_1' }],
    ['opt-in', { source: 'call', at: '2026-11-30T18:00:00Z' }],
    ['opt-in', { source: '', at: '2026-11-30T18:00:00Z', words: 'yes' }],
    ['assign', {}],
    ['close', { seenSeq: 1, force: true }],
  ])('%s with %j is refused before anything happens [SEC11]', async (command, body) => {
    const id = await waitingLead();
    const refused = await post(`/conversations/${id}/${command}`, body);
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect(await world.rows('select from staff_commands')).toEqual([]);
  });

  it.each([
    ['approve', { seenSeq: 1 }, 409, 'not_applicable'],
    ['close', {}, 400, 'seen_seq_required'],
    ['assign', { queue: 'nowhere' }, 409, 'not_applicable'],
    ['send-now', {}, 409, 'send_not_named'],
    ['postpone', { until: '2020-01-01T00:00:00Z' }, 400, 'wrong_time'],
    ['note', { text: '  ' }, 400, 'text_does_not_fit'],
    ['opt-in', { source: 'call', at: '2026-11-30T17:00:00Z', words: 'yes' }, 409, 'not_applicable'],
  ])('%s with %j is answered %i %s', async (command, body, status, code) => {
    const id = await waitingLead();
    expect(await post(`/conversations/${id}/${command}`, body)).toMatchObject({
      status,
      body: { code, title: expect.any(String) as string, detail: expect.any(String) as string },
    });
  });

  it('after an opt-out a reply is a hard refusal with the way out [INV-13]', async () => {
    const id = await waitingLead();
    await post(`/conversations/${id}/opt-out`, {});
    expect(await post(`/conversations/${id}/reply`, { text: 'Hi' })).toMatchObject({
      status: 409,
      body: { code: 'opted_out', detail: expect.stringContaining('consent') as string },
    });
  });
});

/** The same sentence, whoever of the staff it names. */
function sameWords(text: string, line: string): boolean {
  const role = /^(Staff|An agent|A manager|The owner|A support agent|A shift supervisor) /;
  return text.replace(role, '* ') === line.replace(role, '* ');
}
