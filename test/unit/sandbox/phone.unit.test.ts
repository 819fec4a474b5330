/** Goal: a lead can do on this phone what people do, and sees what people would see. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { People } from '../../../sandbox/people';
import {
  ALL_CHANNELS,
  at,
  call,
  conversation,
  graphSend,
  parsed,
  phone,
  smsSend,
  startWorld,
  textAt,
  threadOf,
  type World,
} from './world';

let world: World;

beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

const lead = 'Robin Fields';
const lastBody = () => parsed(world.app.requests.at(-1));
const lastEvent = () => at(lastBody(), 'entry.0.messaging.0');
const lastValue = () => at(lastBody(), 'entry.0.changes.0.value');

describe('on Messenger and Instagram', () => {
  it('a reaction is about the newest message of the business', async () => {
    const { send } = await conversation(world, 'messenger', lead);
    const mid = textAt((await send('Yes')).body, 'message_id');
    await world.app.arrived(1, (r) => r.body.includes('"delivery"'));
    await phone(world, 'messenger', { lead, kind: 'reaction', text: '❤' });
    expect(lastEvent()).toMatchObject({ reaction: { mid, action: 'react', emoji: '❤' } });
  });

  it('an edit carries the number of edits, on Instagram as a text', async () => {
    const { body } = await phone(world, 'messenger', { lead, text: 'Helo' });
    await phone(world, 'messenger', { lead, kind: 'edit', text: 'Hello' });
    const mid = textAt(body, 'providerMessageId');
    expect(lastEvent()).toMatchObject({ message_edit: { mid, text: 'Hello', num_edit: 1 } });
    expect(await threadOf(world, 'messenger', lead)).toEqual(['lead: Hello']);
    await phone(world, 'instagram', { lead, text: 'Helo' });
    await phone(world, 'instagram', { lead, kind: 'edit', text: 'Hello' });
    expect(lastEvent()).toMatchObject({ message_edit: { num_edit: '1' } });
  });

  it('only Instagram tells of an unsent message', async () => {
    const { body } = await phone(world, 'instagram', { lead, text: 'Oops' });
    await phone(world, 'instagram', { lead, kind: 'delete' });
    const mid = textAt(body, 'providerMessageId');
    expect(lastEvent()).toMatchObject({ message: { mid, is_deleted: true } });
    await phone(world, 'messenger', { lead, text: 'Oops' });
    const refused = await phone(world, 'messenger', { lead, kind: 'delete' });
    expect(refused.status).toBe(400);
  });

  it('echoes of staff and of other apps are told apart by the app id', async () => {
    await phone(world, 'messenger', { lead, kind: 'echo-native', text: 'On my way' });
    expect(lastEvent()).toMatchObject({ message: { is_echo: true, app_id: 263902037430900 } });
    await phone(world, 'messenger', { lead, kind: 'echo-other-app', text: 'Newsletter' });
    expect(lastEvent()).toMatchObject({ message: { is_echo: true, app_id: 900000000000777 } });
    await phone(world, 'instagram', { lead, kind: 'echo-native', text: 'On my way' });
    expect(lastEvent()).toMatchObject({ message: { is_echo: true, text: 'On my way' } });
    expect(at(lastEvent(), 'message.app_id')).toBeUndefined();
    expect(at(lastEvent(), 'sender.id')).toBe('17840000000000001');
  });

  it('media are attachments with an address that can be fetched', async () => {
    await phone(world, 'messenger', {
      lead,
      text: '',
      media: [{ kind: 'audio' }, { kind: 'image' }],
    });
    const attachments = at(lastEvent(), 'message.attachments');
    expect(attachments).toMatchObject([{ type: 'audio' }, { type: 'image' }]);
    expect(at(lastEvent(), 'message.text')).toBeUndefined();
    const file = await fetch(textAt(attachments, '1.payload.url'));
    expect(file.status).toBe(200);
    await file.arrayBuffer();
  });

  it('a read receipt has a watermark on Messenger and a message id on Instagram', async () => {
    await phone(world, 'messenger', { lead, kind: 'status' });
    expect(lastEvent()).toMatchObject({ read: { watermark: expect.any(Number) } });
    await phone(world, 'instagram', { lead, kind: 'status' });
    expect(lastEvent()).toMatchObject({ read: { mid: expect.any(String) } });
  });
});

describe('on WhatsApp', () => {
  it('text and voice note come as two messages of one request', async () => {
    await phone(world, 'whatsapp', { lead, text: 'Listen', media: [{ kind: 'audio' }] });
    expect(world.app.requests).toHaveLength(1);
    expect(at(lastValue(), 'messages')).toMatchObject([
      { type: 'text', text: { body: 'Listen' } },
      { type: 'audio', audio: { voice: true } },
    ]);
  });

  it('an owner in the phone app shows as an smb echo, another app only by its statuses', async () => {
    await phone(world, 'whatsapp', { lead, kind: 'echo-native', text: 'On my way' });
    expect(at(lastBody(), 'entry.0.changes.0.field')).toBe('smb_message_echoes');
    expect(at(lastValue(), 'message_echoes.0')).toMatchObject({
      from: '13125550100',
      text: { body: 'On my way' },
    });
    await phone(world, 'whatsapp', { lead, kind: 'echo-other-app', text: 'Newsletter' });
    expect(world.app.requests).toHaveLength(3);
    expect(at(lastValue(), 'statuses.0')).toMatchObject({ status: 'delivered' });
  });

  it('edits and revokes name the original message', async () => {
    const { body } = await phone(world, 'whatsapp', { lead, text: 'Helo' });
    const original = { original_message_id: textAt(body, 'providerMessageId') };
    await phone(world, 'whatsapp', { lead, kind: 'edit', text: 'Hello' });
    expect(at(lastValue(), 'messages.0')).toMatchObject({ type: 'edit', edit: original });
    await phone(world, 'whatsapp', { lead, kind: 'delete' });
    expect(at(lastValue(), 'messages.0')).toMatchObject({ type: 'revoke', revoke: original });
  });

  it('a history import has old times, both sides, and opens no window', async () => {
    const options = { historyCount: 300 };
    await phone(world, 'whatsapp', { lead, kind: 'history', text: 'Old words', options });
    expect(at(lastBody(), 'entry.0.changes.0.field')).toBe('history');
    const messages = at(lastValue(), 'history.0.threads.0.messages') as unknown[];
    expect(messages).toHaveLength(300);
    expect(at(messages.at(-1), 'text.body')).toBe('Old words');
    const newest = Number(at(messages.at(-1), 'timestamp')) * 1000;
    expect(Date.now() - newest).toBeGreaterThan(29 * 24 * 3_600_000);
    const to = textAt(lastValue(), 'history.0.threads.0.id');
    const message = { messaging_product: 'whatsapp', to, text: { body: 'Hi' } };
    expect(await graphSend(world, 'whatsapp', message)).toMatchObject({
      body: { error: { code: 131047 } },
    });
  });

  it('a status can name a message that nobody knows', async () => {
    await phone(world, 'whatsapp', { lead, kind: 'status', target: 'wamid.UNKNOWN' });
    expect(at(lastValue(), 'statuses.0')).toMatchObject({ id: 'wamid.UNKNOWN', status: 'read' });
  });
});

describe('on SMS', () => {
  it('media have addresses and types, and a late callback repeats the token of the send', async () => {
    const { send } = await conversation(world, 'sms', lead);
    await phone(world, 'sms', { lead, text: '', media: [{ kind: 'image' }] });
    const form = new URLSearchParams(world.app.requests.at(-1)?.body);
    expect([form.get('NumMedia'), form.get('MediaContentType0')]).toEqual(['1', 'image/png']);
    expect((await phone(world, 'sms', { lead, kind: 'status' })).status).toBe(400);
    await send('Yes');
    await world.app.arrived(3, (r) => r.target.includes('/status'));
    await phone(world, 'sms', { lead, kind: 'status', status: 'failed' });
    const late = world.app.requests.at(-1);
    expect(late?.target).toContain('attempt=att_1');
    expect(new URLSearchParams(late?.body).get('ErrorCode')).toBe('30007');
  });

  it('a reaction is an ordinary text', async () => {
    const { send } = await conversation(world, 'sms', lead);
    await send('See you at nine.');
    await phone(world, 'sms', { lead, kind: 'reaction' });
    const liked = world.app.requests.map(({ body }) => new URLSearchParams(body).get('Body'));
    expect(liked).toContain('Liked “See you at nine.”');
  });
});

describe('the phone refuses with a reason', () => {
  it.each([
    ['call', { kind: 'call' }, /belongs to a channel that is not here yet/],
    ['form', { kind: 'form', answers: {} }, /belongs to a channel that is not here yet/],
    ['nothing to say', {}, /needs a text or media/],
    ['an unknown option', { text: 'Hi', options: { haste: 1 } }, /haste/],
    ['an account that is not here', { text: 'Hi', account: '1' }, /No messenger account/],
    ['an edit of nothing', { kind: 'edit', text: 'Hi' }, /nothing that could be edited/],
  ])('%s', async (_name, message, reason) => {
    const answer = await phone(world, 'messenger', { lead, ...message });
    expect(answer.status).toBe(400);
    expect(textAt(answer.body, 'error')).toMatch(reason);
    expect(world.app.requests).toEqual([]);
  });

  it('an unknown channel', async () => {
    expect((await phone(world, 'fax', { lead, text: 'Hi' })).status).toBe(404);
  });
});

describe('ledger and threads', () => {
  it.each(ALL_CHANNELS)('hold what was sent on %s, without the credentials', async (channel) => {
    const { send } = await conversation(world, channel, lead);
    const before = new Date().toISOString();
    await send('Yes, we do.');
    const url = `${world.sandbox.url}/ledger?channel=${channel}&since=${before}`;
    const { body } = await call(url);
    expect(body).toMatchObject([{ channel, lead, text: 'Yes, we do.' }]);
    expect(at(body, '0.requestHeaders.authorization')).toMatch(/^(Bearer|Basic) \[not kept\]$/);
    expect(at(body, '0.providerMessageId')).toEqual(expect.any(String));
    const later = new Date(Date.now() + 60_000).toISOString();
    expect((await call(`${world.sandbox.url}/ledger?since=${later}`)).body).toEqual([]);
    expect(await threadOf(world, channel, lead)).toEqual([
      'lead: Do you fix water heaters?',
      'business: Yes, we do.',
    ]);
    const threads = await call(`${world.sandbox.url}/phone/${channel}/threads`);
    expect(threads.body).toMatchObject([{ lead, last: { from: 'business' } }]);
  });

  it('an unknown lead has an empty thread, an unreadable since is refused', async () => {
    expect(await threadOf(world, 'sms', 'Nobody Yet')).toEqual([]);
    expect((await call(`${world.sandbox.url}/ledger?since=yesterday`)).status).toBe(400);
  });

  it('the state file brings threads, windows and blocks back after a restart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
    const stateFile = join(folder, 'state.jsonl');
    const before = await startWorld({ stateFile });
    await phone(before, 'sms', { lead, text: 'STOP' });
    await phone(before, 'messenger', { lead, text: 'Hi' });
    const id = textAt(parsed(before.app.requests[1]), 'entry.0.messaging.0.sender.id');
    const to = new URLSearchParams(before.app.requests[0]?.body).get('From') ?? '';
    await before.close();
    const after = await startWorld({ stateFile });
    expect(await threadOf(after, 'messenger', lead)).toEqual(['lead: Hi']);
    const message = { recipient: { id }, message: { text: 'Hello again' } };
    expect((await graphSend(after, 'messenger', message)).status).toBe(200);
    expect((await smsSend(after, { To: to, Body: 'Hi' })).body).toMatchObject({ code: 21610 });
    await after.close();
    rmSync(folder, { recursive: true });
  });
});

describe('addresses of leads', () => {
  const OWN = '+13125550100';

  it('follow from the name alone, whoever came before', () => {
    const first = new People([OWN]);
    const second = new People([OWN]);
    second.named('Somebody Else');
    expect(second.named(lead)).toEqual(first.named(lead));
    expect(first.named(lead).phone).toMatch(/^\+1\d{3}55501\d\d$/);
  });

  it('are unique and valid for thousands of leads, and never the number of the business', () => {
    const people = new People([OWN]);
    const leads = Array.from({ length: 8_000 }, (_, index) => people.named(`lead ${index}`));
    expect(new Set(leads.map((person) => person.phone)).size).toBe(8_000);
    expect(new Set(leads.map((person) => person.messengerId)).size).toBe(8_000);
    expect(leads.some((person) => person.phone === OWN)).toBe(false);
    const valid = (number: string) => parsePhoneNumberFromString(number)?.isValid() === true;
    expect(leads.every((person) => valid(person.phone))).toBe(true);
  });
});

describe('the page', () => {
  it('is served with a policy that allows nothing from elsewhere', async () => {
    const response = await fetch(`${world.sandbox.url}/`);
    const html = await response.text();
    expect(response.headers.get('content-security-policy')).toContain("default-src 'self'");
    expect(html).toContain('data-testid="composer"');
    expect(html).not.toMatch(/<script(?![^>]*src=)|style="|https?:\/\//);
  });

  it('hears of new messages as server-sent events', async () => {
    const abort = new AbortController();
    const stream = await fetch(`${world.sandbox.url}/phone/events`, { signal: abort.signal });
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    let heard = '';
    await phone(world, 'messenger', { lead, text: 'Live' });
    while (!heard.includes('"webhookStatus":200')) heard += (await reader?.read())?.value ?? '';
    expect(heard).toContain('"type":"thread"');
    abort.abort();
  });
});
