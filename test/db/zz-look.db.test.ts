import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import express from 'express';
import { serveConsole } from '../../api/console/serve';
import { makeEventStream } from '../../api/staff/events';
import { makeStaffRouter } from '../../api/staff/router';
import { runStaffCommand } from '../../db/commands/run';
import { ingest } from '../../db/ingest/ingest';
import { prepared, requestOf, smsElement } from '../support/inbound';
import { makeWorld, STAFF_TOKEN } from '../support/world';

const ACCOUNTS: Record<string, string> = { messenger: '100000000000001', instagram: '17840000000000001', whatsapp: '300000000000003', sms: '+13125550100' };
jest.setTimeout(3_600_000);
it('look', async () => {
  let back = 5 * 3_600_000;
  const clock = { now: () => Promise.resolve(new Date(Date.now() - back).toISOString()) };
  const world = await makeWorld({ clock });
  world.dependencies.engine.draft = (thread: any) => {
    const text = String(thread.at(-1)?.text ?? '');
    if (/person/.test(text)) return { kind: 'handoff', reason: 'lead_requested_human' } as any;
    if (/^thanks/i.test(text)) return { kind: 'no-answer', reason: 'thanks' } as any;
    return { kind: 'reply', text: 'Thanks for writing to Rivera Plumbing! We can help with your water heater. What is your ZIP code, and is any water leaking right now?', verdict: 'meaningful' } as any;
  };
  let n = 0;
  const write = async (channel: string, who: string, name: string | null, text: string | null, optOut: any = null) => {
    n += 1;
    const base = smsElement({ text, id: `id-${n}`, at: await clock.now() }).element as any;
    const account = ACCOUNTS[channel];
    const from = channel === 'sms' || channel === 'whatsapp' ? [{ kind: 'phone', value: who }] : [{ kind: channel, value: `${account}/${who}` }];
    const element = { ...base, channel, accountExternalId: account, from, profileName: name, eventKey: `message:${n}` };
    const result = await ingest(world.database.service, requestOf([prepared(element, optOut)], channel === 'sms' ? 'twilio' : 'meta'), await clock.now());
    return result.wake[0]?.id as string;
  };
  const turn = (id: string) => world.activities.takeTurn({ conversationId: id });
  const deliver = async (id: string, agenda: any) => {
    const step = agenda.items[0]?.step;
    if (step?.kind === 'deliver') await world.activities.deliver({ conversationId: id, sendId: step.sendId });
  };
  const answer = async (id: string) => deliver(id, await turn(id));
  const pass = (ms: number) => { back -= ms; };
  const command = async (id: string, name: any, seenSeq: number | null = null) => runStaffCommand(world.database.staff, { businessId: 'biz_00000000000070008000000000000001', role: 'manager', command: name, conversationId: id, idempotencyKey: `k${(n += 1)}`, seenSeq }, await clock.now());

  const a = await write('sms', '+13125550141', null, 'Hi, my water heater is leaking all over the basement. Can you come today?');
  pass(400); await answer(a);
  const b = await write('whatsapp', '+13125550143', 'Marisol Vega', '¿Cuánto cuesta cambiar un calentador de agua?');
  pass(300); await answer(b); pass(60_000);
  await write('whatsapp', '+13125550143', 'Marisol Vega', 'Es de 40 galones'); pass(500); await answer(b); pass(30_000);
  await write('whatsapp', '+13125550143', 'Marisol Vega', 'I want to talk to a person please'); pass(500); await turn(b);
  const c = await write('messenger', '7001', 'Jordan Ames', 'The sink backs up every morning'); pass(200);
  world.provider.next(() => ({ kind: 'unknown', code: 'read_timeout' })); await answer(c); pass(21_000);
  const [snd] = await world.rows("select id from outbox where conversation_id = $1", [c]);
  await world.activities.resolve({ conversationId: c, sendId: snd!['id'] as any });
  const d = await write('sms', '+13125550145', 'Theo Brandt', 'Do you do toilets?'); pass(300); await answer(d); pass(120_000);
  await write('sms', '+13125550145', 'Theo Brandt', 'It runs all night and the handle is loose. I already replaced the flapper twice and the fill valve once, so I would rather have somebody look at the whole thing before I buy more parts that do not help.'); pass(300);
  await turn(d); pass(200);
  await write('sms', '+13125550145', 'Theo Brandt', 'Tomorrow after 3 works'); pass(1_100); await answer(d); pass(60_000);
  await command(d, 'book');
  const e = await write('instagram', '7002', 'ريم الخطيب', 'مرحبا، عندي تسريب في المطبخ'); pass(300); await answer(e); pass(20_000);
  await write('instagram', '7002', 'ريم الخطيب', 'STOP', 'stop'); pass(300); await answer(e);
  const f = await write('messenger', '7003', '<img src=x onerror=alert(1)>', '<script>alert(1)</script> hello\u202egnp.exe'); pass(300); 
  await turn(f); await command(f, 'claim'); pass(5_000);
  const g = await write('sms', '+13125550147', 'Priya Nair', 'Thanks!'); pass(100); await turn(g);
  world.provider.next(() => ({ kind: 'not-accepted', code: '30007', retry: 'back-off', retryAfterMs: null, pausesAccount: false, optedOut: false }));
  const h = await write('sms', '+13125550148', 'Sam Okafor', 'Main line is clogged, sewage smell'); pass(200); await answer(h); pass(1_600); await answer(h).catch(() => undefined); 
  const hs = await world.rows("select id from outbox where conversation_id = $1", [h]);
  await world.activities.deliver({ conversationId: h, sendId: hs[0]!['id'] as any });
  back = 75_000;
  await write('messenger', '7010', 'Old Owed', 'Anybody there?');
  back = 10_000;
  await write('instagram', '7011', 'Lee Park', null);
  back = 0;
  for (let i = 0; i < 60; i += 1) await world.database.owner.query('select 1');
  const app = express();
  const log = { info: () => undefined, warn: () => undefined, error: (f: unknown, m: string) => console.error(m, f) };
  const events = makeEventStream({ pool: world.database.service, log });
  app.post('/test/cut', (_q, r) => { r.end(); setTimeout(() => server.closeAllConnections(), 50); });
  app.post('/test/:verb', express.json(), async (request, response) => {
    const { id, text, who, name, channel } = request.body;
    if (request.params.verb === 'write') response.json({ id: await write(channel, who, name, text) });
    else { await answer(id); response.json({}); }
  });
  app.use('/api', makeStaffRouter({ staffPool: world.database.staff, tokenPool: world.database.service, runCommand: async (r) => runStaffCommand(world.database.staff, r, null), wake: () => undefined, events, log }));
  app.use(serveConsole({ webRoot: '/work/main/web/dist' }));
  const server = createServer(app).listen(4555);
  writeFileSync('/tmp/look-ready', STAFF_TOKEN);
  while (!existsSync('/tmp/look-stop')) await new Promise((r) => setTimeout(r, 300));
  await events.close(); server.closeAllConnections(); server.close();
  await world.close();
});
