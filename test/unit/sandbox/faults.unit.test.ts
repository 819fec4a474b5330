/**
 * Goal: every fault switch does what its name says. Method: each is armed once and observed from
 * outside: the answer of the send, the ledger, the webhooks, and that the next send is normal.
 */
import {
  ALL_CHANNELS,
  armFault,
  at,
  call,
  conversation,
  graphGet,
  ledgerTexts,
  parsed,
  postJson,
  startWorld,
  textAt,
  threadOf,
  twilioHeaders,
  twilioMessages,
  type Answer,
  type AnyChannel,
  type World,
} from './world';

let world: World;

beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

/** Resolves once every armed fault has met its call. */
async function faultsMet(): Promise<void> {
  const armed = async () => (await call(`${world.sandbox.url}/faults`)).body as unknown[];
  while ((await armed()).length > 0);
}

/** Sends while `fault` is armed and waits for whatever comes of it. */
async function sendUnder(channel: AnyChannel, fault: object) {
  const talk = await conversation(world, channel);
  await armFault(world, { channel, ...fault });
  const outcome = await talk.send('First').catch(() => 'no answer' as const);
  return { ...talk, outcome };
}

/** Sends while `fault` is armed and gives up as soon as the fault has met the call. */
async function giveUpUnder(channel: AnyChannel, fault: object) {
  const talk = await conversation(world, channel);
  await armFault(world, { channel, ...fault });
  const patience = new AbortController();
  const sent = talk.send('First', { signal: patience.signal }).catch(() => 'no answer' as const);
  await faultsMet();
  patience.abort();
  return { ...talk, outcome: await sent };
}

describe.each(ALL_CHANNELS)('on %s', (channel) => {
  it.each(['timeout-before-accept', 'timeout-after-accept'])(
    '%s leaves the client without an answer until it gives up or the socket is cut',
    async (fault) => {
      const { outcome } = await giveUpUnder(channel, { fault });
      expect(outcome).toBe('no answer');
      const cut = await sendUnder(channel, { fault, ms: 10 });
      expect(cut.outcome).toBe('no answer');
      const accepted = fault === 'timeout-after-accept' ? ['First', 'First'] : [];
      expect(await ledgerTexts(world)).toEqual(accepted);
      const { status } = answered(await cut.send('Second'));
      expect(status).toBeLessThan(300);
    },
  );

  it('hang accepts late, after the client may have given up', async () => {
    const { outcome } = await giveUpUnder(channel, { fault: 'hang', ms: 200 });
    expect(outcome).toBe('no answer');
    const patient = await sendUnder(channel, { fault: 'hang', ms: 200 });
    expect(answered(patient.outcome).status).toBeLessThan(300);
    expect(await ledgerTexts(world)).toEqual(['First', 'First']);
  });

  it.each([
    ['error-500', 500, []],
    ['error-500-after-accept', 500, ['First']],
    ['success-with-inner-error', 200, []],
    ['rate-limit', 429, []],
    ['auth-expired', 401, []],
  ])('%s is answered %i', async (fault, status, accepted) => {
    const { outcome, send } = await sendUnder(channel, { fault });
    const { body } = answered(outcome);
    expect(answered(outcome).status).toBe(status);
    expect(at(body, channel === 'sms' ? 'code' : 'error.code')).toEqual(expect.any(Number));
    expect(await ledgerTexts(world)).toEqual(accepted);
    expect((await send('Second')).status).toBeLessThan(300);
    expect((await call(`${world.sandbox.url}/faults`)).body).toEqual([]);
  });

  it('rate-limit says when to come back, in the code of the provider', async () => {
    const { outcome } = await sendUnder(channel, { fault: 'rate-limit', ms: 7_000 });
    const codes = { messenger: 613, instagram: 80006, whatsapp: 130429, sms: 20429 };
    const { headers, body } = answered(outcome);
    expect(headers.get('retry-after')).toBe('7');
    expect(at(body, channel === 'sms' ? 'code' : 'error.code')).toBe(codes[channel]);
  });

  it('accepted-then-failed is accepted, but never seen by the lead', async () => {
    const { outcome, lead } = await sendUnder(channel, { fault: 'accepted-then-failed' });
    expect(answered(outcome).status).toBeLessThan(300);
    expect(await ledgerTexts(world)).toEqual(['First']);
    expect(await threadOf(world, channel, lead)).toHaveLength(1);
  });

  it('status-before-response brings the first webhook before the answer', async () => {
    const { outcome } = await sendUnder(channel, { fault: 'status-before-response' });
    const about = channel === 'sms' ? 'sid' : 'message_id';
    const id = textAt(answered(outcome).body, channel === 'whatsapp' ? 'messages.0.id' : about);
    // Answered only now, so whatever has arrived by this line arrived before.
    const early = world.app.requests.filter(({ body }) => body.replaceAll('\\/', '/').includes(id));
    expect(early.length).toBeGreaterThan(0);
  });
});

function answered(outcome: Answer | 'no answer'): Answer {
  if (outcome === 'no answer') throw new Error('The send was not answered.');
  return outcome;
}

describe('accepted-then-failed', () => {
  it.each([
    [131026, undefined],
    [131047, 131047],
  ])('ends on WhatsApp in a failed status with code %i', async (expected, code) => {
    await sendUnder('whatsapp', { fault: 'accepted-then-failed', code });
    const [request] = await world.app.arrived(1, (r) => r.body.includes('"failed"'));
    const status = at(parsed(request), 'entry.0.changes.0.value.statuses.0');
    expect(status).toMatchObject({
      biz_opaque_callback_data: 'att_1',
      errors: [{ code: expected }],
    });
  });

  it('ends on SMS in a failed callback with error 30007', async () => {
    await sendUnder('sms', { fault: 'accepted-then-failed' });
    const [, , last] = await world.app.arrived(3, (r) => r.target.includes('/twilio/status'));
    const form = new URLSearchParams(last?.body);
    expect([form.get('MessageStatus'), form.get('ErrorCode')]).toEqual(['failed', '30007']);
  });
});

describe('readback-lag', () => {
  const fields = encodeURIComponent('messages{id,message}');

  it.each(['messenger', 'instagram'] as const)(
    'hides the newest sends on %s from one read, not what the lead wrote',
    async (channel) => {
      const { address } = await sendUnder(channel, { fault: 'readback-lag' });
      const path = channel === 'messenger' ? '100000000000001' : '17840000000000001';
      const query = `platform=${channel}&user_id=${address}&fields=${fields}`;
      const read = async () => {
        const { body } = await graphGet(world, `${path}/conversations?${query}`);
        return (at(body, 'data.0.messages.data') as unknown[]).map((m) => at(m, 'message'));
      };
      expect(await read()).toEqual(['Do you fix water heaters?']);
      expect(await read()).toEqual(['First', 'Do you fix water heaters?']);
    },
  );

  it('hides the newest sends from the list of Twilio', async () => {
    await sendUnder('sms', { fault: 'readback-lag' });
    const read = async () => {
      const { body } = await call(twilioMessages(world), { headers: twilioHeaders });
      return (at(body, 'messages') as unknown[]).map((m) => at(m, 'body'));
    };
    expect(await read()).toEqual(['Do you fix water heaters?']);
    expect(await read()).toEqual(['First', 'Do you fix water heaters?']);
  });

  it('auth-expired meets a read-back as well', async () => {
    const { address } = await conversation(world, 'messenger');
    await armFault(world, { channel: 'messenger', fault: 'auth-expired' });
    const query = `platform=messenger&user_id=${address}`;
    const refused = await graphGet(world, `100000000000001/conversations?${query}`);
    expect(refused).toMatchObject({
      status: 401,
      body: { error: { code: 190, error_subcode: 463 } },
    });
  });
});

describe('the fault switches', () => {
  it('name the known faults when one is unknown, and the known channels', async () => {
    const fault = await armFault(world, { channel: 'sms', fault: 'gremlins' });
    expect(fault.status).toBe(400);
    expect(textAt(fault.body, 'error')).toMatch(/"gremlins".*timeout-before-accept.*readback-lag/);
    const channel = await armFault(world, { channel: 'fax', fault: 'hang' });
    expect(channel.status).toBe(404);
    expect(textAt(channel.body, 'error')).toContain('messenger, instagram, whatsapp, sms');
    const count = await armFault(world, { channel: 'sms', fault: 'hang', count: 0 });
    expect(count.status).toBe(400);
  });

  it('count down with use, are listed, and can be cleared by channel or all at once', async () => {
    const { send } = await conversation(world, 'sms');
    await armFault(world, { channel: 'sms', fault: 'error-500', count: 3 });
    await armFault(world, { channel: 'messenger', fault: 'hang' });
    await send('One');
    const faults = `${world.sandbox.url}/faults`;
    expect((await call(faults)).body).toMatchObject([{ fault: 'error-500', count: 2 }, {}]);
    await call(`${faults}?channel=sms`, { method: 'DELETE' });
    expect((await call(faults)).body).toMatchObject([{ fault: 'hang', channel: 'messenger' }]);
    await call(faults, { method: 'DELETE' });
    expect((await call(faults)).body).toEqual([]);
    expect((await send('Two')).status).toBe(201);
  });

  it('latency delays every call of one channel', async () => {
    const { send } = await conversation(world, 'sms');
    const url = `${world.sandbox.url}/latency`;
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ channel: 'sms', ms: 80 });
    expect((await call(url, { method: 'PUT', headers, body })).status).toBe(200);
    const startedAt = performance.now();
    await send('Slow');
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(79);
    const wrong = await postJson(url, { channel: 'sms' });
    expect(wrong.status).toBe(404);
  });
});
