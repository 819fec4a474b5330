import express from 'express';
import type { Pool } from 'pg';
import type { StaffCommandRequest, StaffCommandResult } from '../../../db/commands/contract';
import type { WakeTarget } from '../../../db/due';
import { makeStaffRouter } from '../../../api/staff/router';
import { serve, type Served } from './serving';

const ID = `cnv_${'0'.repeat(32)}`;
const WAKE: WakeTarget = {
  id: ID,
  businessId: 'biz_1',
  channel: 'sms',
  state: 'replied',
  owner: 'person',
};
const DONE = {
  kind: 'done',
  response: { conversationId: ID, state: 'replied', owner: 'person', version: 4 },
  wake: WAKE,
} as const;

/** A token look-up without a database: every token is a manager's of one business. */
const tokenPool = {
  query: () => Promise.resolve({ rows: [{ businessId: 'biz_1', role: 'manager' }] }),
} as unknown as Pool;

describe('the staff API over HTTP', () => {
  const asked: StaffCommandRequest[] = [];
  const woken: WakeTarget[] = [];
  let result: StaffCommandResult | Error = DONE;
  let served: Served;

  beforeAll(async () => {
    const app = express();
    const router = makeStaffRouter({
      staffPool: tokenPool,
      tokenPool,
      runCommand: (request) => {
        asked.push(request);
        return result instanceof Error ? Promise.reject(result) : Promise.resolve(result);
      },
      wake: (target) => woken.push(target),
      events: { serve: () => Promise.resolve(), close: () => Promise.resolve() },
      log: { error: () => undefined },
    });
    app.use('/api', router);
    served = await serve(app);
  });
  beforeEach(() => {
    asked.length = 0;
    woken.length = 0;
    result = DONE;
  });
  afterAll(() => served.close());

  async function call(path: string, init: RequestInit = {}) {
    const response = await fetch(`${served.url}/api${path}`, init);
    const body = (await response.json()) as Record<string, unknown>;
    return { status: response.status, body, headers: response.headers };
  }
  const command = (name: string, init: { headers?: Record<string, string>; body?: unknown } = {}) =>
    call(`/conversations/${ID}/${name}`, {
      method: 'POST',
      headers: {
        Authorization: 'Bearer token',
        'Idempotency-Key': 'key-1',
        'Content-Type': 'application/json',
        ...init.headers,
      },
      ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
    });

  it.each(['claim', 'release', 'book', 'opt-out', 'pause', 'resume', 'close'])(
    '%s is run for the business and role of the token and wakes the workflow [O1]',
    async (name) => {
      const { status, body } = await command(name, { body: { seenSeq: 7 } });
      expect([status, body]).toEqual([200, DONE.response]);
      expect(asked).toEqual([
        {
          businessId: 'biz_1',
          role: 'manager',
          command: name,
          conversationId: ID,
          idempotencyKey: 'key-1',
          seenSeq: 7,
        },
      ]);
      expect(woken).toEqual([WAKE]);
    },
  );

  const SEND = `snd_${'1'.repeat(32)}`;
  const instant = '2026-11-30T18:30:00Z';
  it.each<[string, object, object]>([
    ['reply', { text: 'Hello' }, { text: 'Hello' }],
    ['note', { text: 'Hello' }, { text: 'Hello' }],
    ['approve', {}, { text: null }],
    ['approve', { text: 'Hello' }, { text: 'Hello' }],
    ['reject', { reason: 'No.' }, { reason: 'No.' }],
    ['send-now', {}, { sendId: null, reason: null }],
    ['send-now', { sendId: SEND, reason: 'Now.' }, { sendId: SEND, reason: 'Now.' }],
    ['postpone', { until: instant }, { until: instant, sendId: null, reason: null }],
    ['assign', { queue: 'owner' }, { queue: 'owner' }],
    [
      'opt-in',
      { source: ' a call ', at: instant, words: 'Yes.' },
      { source: 'a call', at: instant, words: 'Yes.' },
    ],
  ])('%s says %j to the command', async (name, body, said) => {
    const { status } = await command(name, { body: { ...body, seenSeq: 7 } });
    expect(status).toBe(200);
    const envelope = { businessId: 'biz_1', role: 'manager', idempotencyKey: 'key-1', seenSeq: 7 };
    expect(asked).toEqual([{ ...envelope, conversationId: ID, command: name, ...said }]);
  });

  const ITEM = `wrk_${'2'.repeat(32)}`;
  it.each<[string, object, object]>([
    [`/escalations/${ITEM}/claim`, {}, { workItemId: ITEM, command: 'claim-item', seenSeq: null }],
    [
      `/escalations/${ITEM}/resolve`,
      { seenSeq: 7 },
      { workItemId: ITEM, command: 'resolve-item', seenSeq: 7, resolution: null },
    ],
    [
      `/deliveries/${SEND}/settle`,
      { arrived: false },
      { sendId: SEND, command: 'settle', seenSeq: null, arrived: false },
    ],
  ])('%s with %j is the command of its thing', async (path, body, said) => {
    const { status } = await call(path, {
      method: 'POST',
      headers: {
        Authorization: 'Bearer token',
        'Idempotency-Key': 'key-1',
        'Content-Type': 'application/json',
      },
      body: JSON.stringify(body),
    });
    expect(status).toBe(200);
    const envelope = { businessId: 'biz_1', role: 'manager', idempotencyKey: 'key-1' };
    expect(asked).toEqual([{ ...envelope, ...said }]);
  });

  it('a repeated key gets the same answer and wakes nobody', async () => {
    result = { ...DONE, wake: null };
    const { status, body } = await command('claim');
    expect([status, body]).toEqual([200, DONE.response]);
    expect(woken).toEqual([]);
    expect(asked[0]?.seenSeq).toBeNull();
  });

  it.each([
    ['not_found', 404],
    ['newer_message', 409],
    ['seen_seq_required', 400],
    ['not_applicable', 409],
    ['opted_out', 409],
    ['window_closed', 409],
    ['send_not_named', 409],
    ['beyond_expiry', 409],
    ['text_does_not_fit', 400],
    ['wrong_time', 400],
    ['key_reused', 422],
  ] as const)(
    'a refusal %s is answered %i with its code and way out [T6]',
    async (code, status) => {
      result = {
        kind: 'refused',
        code,
        detail: 'What to do.',
        ...(code === 'newer_message' ? { newestSeq: 9 } : {}),
      };
      const answer = await command('release');
      expect(answer.status).toBe(status);
      expect(answer.headers.get('content-type')).toMatch(/problem\+json/);
      expect(answer.body).toMatchObject({ code, detail: 'What to do.' });
      expect(answer.body['newestSeq']).toBe(code === 'newer_message' ? 9 : undefined);
      expect(woken).toEqual([]);
    },
  );

  it('a command that fails unexpectedly is an empty 500 and wakes nobody', async () => {
    result = new Error('boom');
    const { status, body } = await command('claim');
    expect([status, body['code'], body['detail']]).toEqual([500, 'internal_error', '']);
    expect(woken).toEqual([]);
  });

  it.each([
    ['no key', { 'Idempotency-Key': '' }],
    ['a key with spaces', { 'Idempotency-Key': 'a b' }],
    ['a key that is too long', { 'Idempotency-Key': 'k'.repeat(201) }],
  ])('%s is refused with the way out', async (_name, headers) => {
    const { status, body } = await command('claim', { headers });
    expect([status, body['code']]).toEqual([400, 'idempotency_key_required']);
    expect(body['detail']).toMatch(/Send an Idempotency-Key/);
    expect(asked).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['an unknown field', { seen: 7 }],
    ['text for a number', { seenSeq: '7' }],
    ['a negative number', { seenSeq: -1 }],
    ['a list', []],
    ['a polluted prototype', JSON.parse('{"__proto__": {"seenSeq": 1}}')],
  ])('%s in the body is refused [SEC11]', async (_name, body) => {
    const answer = await command('claim', { body });
    expect([answer.status, answer.body['code']]).toEqual([400, 'invalid_request']);
    expect(asked).toEqual([]);
  });

  it('a body that is not JSON is refused and never ignored [SEC2]', async () => {
    const answer = await command('claim', {
      headers: { 'Content-Type': 'text/plain' },
      body: { seenSeq: 7 },
    });
    expect([answer.status, answer.body['code']]).toEqual([415, 'unsupported_media_type']);
    expect(asked).toEqual([]);
  });

  it.each([
    ['none', {}],
    ['another scheme', { Authorization: 'Basic dG9rZW4=' }],
    ['two words', { Authorization: 'Bearer a b' }],
  ])('without a token, or with %s, every operation answers 401 [SEC1]', async (_name, headers) => {
    const paths = [
      '/conversations',
      `/conversations/${ID}`,
      `/conversations/${ID}/timeline`,
      '/escalations',
      '/deliveries',
      '/events',
    ];
    for (const path of paths) {
      const { status, body } = await call(path, { headers });
      expect([path, status, body['code']]).toEqual([path, 401, 'unauthenticated']);
    }
    const { status } = await call(`/conversations/${ID}/claim`, { method: 'POST', headers });
    expect(status).toBe(401);
  });

  it.each(['/conversations/1/claim', '/conversations/cnv_x/claim', '/nowhere'])(
    '%s is not found',
    async (path) => {
      const { status, body } = await call(path, {
        method: 'POST',
        headers: { Authorization: 'Bearer token', 'Idempotency-Key': 'k' },
      });
      expect([status, body['code']]).toEqual([404, 'not_found']);
    },
  );

  it('nothing it answers may be cached or framed [SEC18]', async () => {
    const { headers } = await command('claim');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('the documentation needs no token and runs no script', async () => {
    const page = await fetch(`${served.url}/api/docs`);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    const json = await call('/openapi.json');
    expect(json.body['openapi']).toBe('3.1.0');
    const style = await fetch(`${served.url}/api/docs.css`);
    expect(style.headers.get('content-type')).toMatch(/text\/css/);
  });
});
