import { makeHttpClient } from '../../../channels/http';
import type { HttpClient } from '../../../channels/http';
import { makeInstagramSender, makeMessengerSender } from '../../../channels/meta/messenger-senders';
import { makeWhatsAppSender } from '../../../channels/meta/whatsapp-sender';
import type { ReadBackRequest } from '../../../channels/port';
import { makeTwilioSmsSender } from '../../../channels/twilio/sms-sender';
import { ATTEMPT, json, startStandIn } from './support';
import type { SeenRequest, StandIn } from './support';

const PAGE = '100000000000001';
const TEXT = 'Yes, we do. What is your ZIP code?';
const UNAVAILABLE = (code: string) => ({ kind: 'unavailable', code });

let http: HttpClient;
let provider: StandIn;
beforeEach(async () => {
  http = makeHttpClient();
  provider = await startStandIn();
});
afterEach(async () => {
  await provider.close();
  await http.close();
});

function request(parts: Partial<ReadBackRequest>): ReadBackRequest {
  return {
    accountExternalId: PAGE,
    credentials: { accessToken: 'page-token' },
    attemptId: ATTEMPT,
    to: [{ kind: 'messenger', value: `${PAGE}/71` }],
    text: TEXT,
    attemptedAt: '2026-11-02T15:27:11.600Z',
    timeoutMs: 1_000,
    ...parts,
  };
}

interface Listed {
  readonly id: string;
  readonly at: string;
  readonly from?: string;
  readonly text?: string;
}

const messageOf = ({ id, at, from = PAGE, text = TEXT }: Listed) => ({
  id,
  created_time: `2026-11-02T${at}+0000`,
  from: { id: from, name: 'x' },
  message: text,
});

/** Twenty older messages of both sides, the newest first, so that the list reaches far back. */
const OLDER = Array.from({ length: 20 }, (_, index) =>
  messageOf({ id: `old-${index}`, at: `14:${String(59 - index)}:00`, text: `older ${index}` }),
);

function conversation(messages: readonly object[], paging: object = {}) {
  provider.answer = (response, { path }) => {
    const body = path.includes('/conversations')
      ? { data: [{ id: 't_1', updated_time: 'x' }] }
      : { id: 't_1', messages: { data: messages.slice(0, 20), ...paging } };
    json(200, body)(response);
  };
}

const readMessenger = (parts: Partial<ReadBackRequest> = {}) =>
  makeMessengerSender({ http, graphUrl: provider.url }).readBack(request(parts));

describe('reading back a Messenger attempt', () => {
  it('asks for the conversation of the lead, then for its newest messages [C6]', async () => {
    conversation(OLDER);
    await readMessenger();
    expect(provider.seen.map(({ method, path }) => [method, path.replace(/\?.*/, '')])).toEqual([
      ['GET', `/v26.0/${PAGE}/conversations`],
      ['GET', '/v26.0/t_1'],
    ]);
    expect(queryOf(provider.seen[0])).toEqual({ platform: 'messenger', user_id: '71' });
    expect(queryOf(provider.seen[1]).fields).toBe(
      'messages.limit(20){id,created_time,from,to,message}',
    );
    expect(provider.seen[0]?.headers.authorization).toBe('Bearer page-token');
  });

  it.each([
    ['in the same second, rounded down', '15:27:11'],
    ['a moment before by the clock of the provider', '15:27:10'],
    ['later', '15:27:31'],
  ])('finds our text created %s [C6]', async (_name, at) => {
    conversation([messageOf({ id: 'm_found', at }), ...OLDER]);
    expect(await readMessenger()).toEqual({ kind: 'found', providerMessageId: 'm_found' });
  });

  it.each([
    ['another text', { id: 'm', at: '15:27:12', text: `${TEXT} ` }],
    ['the same text before the attempt', { id: 'm', at: '15:27:08' }],
    ['the same text from the lead', { id: 'm', at: '15:27:12', from: '71' }],
  ])('is absent where there is only %s [C6]', async (_name, listed) => {
    conversation([messageOf(listed), ...OLDER]);
    expect(await readMessenger()).toEqual({ kind: 'absent' });
  });

  it('is absent in a short conversation that is listed whole [C6]', async () => {
    conversation([messageOf({ id: 'm', at: '15:27:12', from: '71', text: 'Hi' })]);
    expect(await readMessenger()).toEqual({ kind: 'absent' });
  });

  it('is not called absent where twenty newer messages hide it [C6]', async () => {
    const newer = Array.from({ length: 20 }, (_, index) =>
      messageOf({ id: `n${index}`, at: `15:28:${String(59 - index)}`, text: 'later' }),
    );
    conversation(newer);
    expect(await readMessenger()).toEqual(UNAVAILABLE('list-too-short'));
  });

  it('is not called absent where the list says that there is more [C6]', async () => {
    const newer = [messageOf({ id: 'n', at: '15:28:00', text: 'later' })];
    conversation(newer, { paging: { next: 'https://graph.example.test/next' } });
    expect(await readMessenger()).toEqual(UNAVAILABLE('list-too-short'));
  });

  it.each([
    ['no conversation is listed', json(200, { data: [] }), 'no-conversation'],
    ['the answer is unreadable', json(200, { data: 5 }), 'unreadable-conversations'],
    ['the token is refused', json(401, { error: { code: 190 } }), 'http-401'],
    ['the provider is down', json(500, {}), 'http-500'],
  ])('is unavailable where %s [C6]', async (_name, answer, code) => {
    provider.answer = answer;
    expect(await readMessenger()).toEqual(UNAVAILABLE(code));
  });

  it('is unavailable where a message cannot be read [C6]', async () => {
    conversation([{ id: 5 }]);
    expect(await readMessenger()).toEqual(UNAVAILABLE('unreadable-conversation'));
  });

  it('keeps to one time-out for both calls [C6]', async () => {
    provider.answer = (response, { path }) => {
      if (path.includes('/conversations')) json(200, { data: [{ id: 't_1' }] })(response);
    };
    const startedAt = performance.now();
    expect(await readMessenger({ timeoutMs: 300 })).toEqual(UNAVAILABLE('timeout'));
    expect(performance.now() - startedAt).toBeLessThan(900);
  });

  it('is unavailable without an address on this page', async () => {
    expect(await readMessenger({ to: [] })).toEqual(UNAVAILABLE('no-address'));
    expect(provider.seen).toHaveLength(0);
  });
});

describe('reading back on other channels of Meta', () => {
  it('works on Instagram under its own platform name [C6]', async () => {
    conversation([messageOf({ id: 'm_found', at: '15:27:12', from: '17840000000000001' })]);
    const sender = makeInstagramSender({ http, graphUrl: provider.url });
    const to = [{ kind: 'instagram', value: '17840000000000001/81' }] as const;
    const found = await sender.readBack(request({ accountExternalId: '17840000000000001', to }));
    expect(found).toEqual({ kind: 'found', providerMessageId: 'm_found' });
    expect(queryOf(provider.seen[0])).toEqual({ platform: 'instagram', user_id: '81' });
  });

  it('does not exist on WhatsApp [C6]', async () => {
    const sender = makeWhatsAppSender({ http, graphUrl: provider.url });
    expect(await sender.readBack(request({}))).toEqual(UNAVAILABLE('no-read-api'));
    expect(provider.seen).toHaveLength(0);
  });
});

const listedSms = (parts: object = {}) => ({
  sid: 'SM_found',
  from: '+13125550100',
  to: '+13125550142',
  messaging_service_sid: null,
  body: TEXT,
  direction: 'outbound-api',
  date_created: 'Mon, 02 Nov 2026 15:27:11 +0000',
  date_sent: null,
  ...parts,
});

function readSms(
  messages: readonly unknown[],
  options: { next?: string; account?: string; text?: string } = {},
) {
  provider.answer = json(200, { messages, next_page_uri: options.next ?? null });
  const secrets = { accountSid: 'AC1', authToken: 'token' };
  const urls = { apiUrl: provider.url, publicUrl: 'https://our.test' };
  return makeTwilioSmsSender({ http, ...secrets, ...urls }).readBack(
    request({
      accountExternalId: options.account ?? '+13125550100',
      to: [{ kind: 'phone', value: '+13125550142' }],
      text: options.text ?? TEXT,
    }),
  );
}

describe('reading back an SMS attempt', () => {
  const older = listedSms({ sid: 'SM_old', date_created: 'Mon, 02 Nov 2026 15:20:00 +0000' });

  it('lists what went from our number to the lead [C6]', async () => {
    await readSms([]);
    expect(provider.seen).toHaveLength(1);
    expect(provider.seen[0]?.path).toMatch(/^\/2010-04-01\/Accounts\/AC1\/Messages\.json\?/);
    expect(queryOf(provider.seen[0])).toEqual({
      From: '+13125550100',
      To: '+13125550142',
      PageSize: '50',
    });
  });

  it.each([
    ['the exact text', {}, TEXT],
    ['a text that is still queued', { date_sent: null }, TEXT],
    [
      'a text a second early by their clock',
      { date_created: 'Mon, 02 Nov 2026 15:27:10 +0000' },
      TEXT,
    ],
    [
      'a text with the prefix of a trial account',
      { body: `Sent from your Twilio trial account - ${TEXT}` },
      TEXT,
    ],
    [
      'a text that smart encoding made plain',
      { body: '"Yes" - we\'re open...' },
      '“Yes” – we’re open…',
    ],
  ])('finds %s [C6]', async (_name, parts, text) => {
    const found = await readSms([listedSms(parts), older], { text });
    expect(found).toEqual({ kind: 'found', providerMessageId: 'SM_found' });
  });

  it('finds what left through a messaging service [C6]', async () => {
    const parts = { from: null, messaging_service_sid: 'MG1' };
    const found = await readSms([listedSms(parts)], { account: 'MG1' });
    expect(found).toEqual({ kind: 'found', providerMessageId: 'SM_found' });
    expect(queryOf(provider.seen[0])).toEqual({ To: '+13125550142', PageSize: '50' });
  });

  it.each([
    ['another text', { body: `${TEXT}!` }],
    ['the same text to somebody else', { to: '+13125550143' }],
    ['the same text from another number', { from: '+13125550101' }],
    ['an incoming text', { direction: 'inbound' }],
    ['the same text before the attempt', { date_created: 'Mon, 02 Nov 2026 15:27:09 +0000' }],
    ['an unreadable time', { date_created: 'recently' }],
  ])('is absent where there is only %s [C6]', async (_name, parts) => {
    expect(await readSms([listedSms(parts), older])).toEqual({ kind: 'absent' });
  });

  it('is absent in a list that is whole [C6]', async () => {
    expect(await readSms([])).toEqual({ kind: 'absent' });
  });

  it('is not called absent where the page does not reach back far enough [C6]', async () => {
    const newer = listedSms({ body: 'later', date_created: 'Mon, 02 Nov 2026 15:29:00 +0000' });
    expect(await readSms([newer], { next: '/next' })).toEqual(UNAVAILABLE('list-too-short'));
  });

  it.each([
    ['an unreadable list', json(200, { messages: [{}] }), 'unreadable-list'],
    ['a refused token', json(401, { code: 20003 }), 'http-401'],
    ['a failure', json(503, {}), 'http-503'],
  ])('is unavailable after %s [C6]', async (_name, answer, code) => {
    const pending = readSms([]);
    provider.answer = answer;
    expect(await pending).toEqual(UNAVAILABLE(code));
  });
});

function queryOf(seen: SeenRequest | undefined): Record<string, string> {
  return Object.fromEntries(new URL(seen?.path ?? '/', 'http://x').searchParams);
}
