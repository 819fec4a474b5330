import type { Channel } from '../../../domain/inbound';
import { META, PAUSE, refusal, startSending } from './sending-support';
import type { Sending } from './sending-support';
import { json } from './support';
import type { StandIn } from './support';

let sending: Sending;
let provider: StandIn;
beforeEach(async () => {
  sending = await startSending();
  provider = sending.provider;
});
afterEach(() => sending.close());

const send: Sending['send'] = (...call) => sending.send(...call);

type Row = readonly [Channel, string, number, object];

/** One row for each code of the tables in providers.md 3.1.10, 3.2.10 and 3.3.10. */
const GRAPH_ROWS: readonly Row[] = [
  ...META.flatMap((channel): Row[] => [
    [channel, '190', 401, refusal('190', PAUSE)],
    [channel, '190/463', 400, refusal('190/463', PAUSE)],
    [channel, '10', 403, refusal('10', PAUSE)],
    [channel, '200', 403, refusal('200', PAUSE)],
    [channel, '299', 400, refusal('299', PAUSE)],
    [channel, '368', 400, refusal('368', PAUSE)],
    [channel, '4', 400, refusal('4', { retry: 'back-off' })],
    [channel, '100', 400, refusal('100')],
    [channel, '99999', 400, refusal('99999')],
    [channel, '99999', 500, { kind: 'unknown', code: '99999' }],
    [channel, '1', 400, { kind: 'unknown', code: '1' }],
    [channel, '2', 500, { kind: 'unknown', code: '2' }],
  ]),
  ...(['messenger', 'instagram'] as const).flatMap((channel): Row[] => [
    [channel, '10/2018278', 400, refusal('10/2018278')],
    [channel, '100/2018001', 400, refusal('100/2018001')],
    [channel, '551/1545041', 400, refusal('551/1545041')],
    [channel, '17', 400, refusal('17', { retry: 'back-off' })],
    [channel, '32', 400, refusal('32', { retry: 'back-off' })],
    [channel, '613', 400, refusal('613', { retry: 'back-off' })],
    [channel, '80006', 400, refusal('80006', { retry: 'back-off' })],
    [channel, '1200', 400, { kind: 'unknown', code: '1200' }],
    [channel, '1357046', 400, { kind: 'unknown', code: '1357046' }],
  ]),
  ['instagram', '10/2534022', 403, refusal('10/2534022')],
  ['messenger', '10/2534022', 403, refusal('10/2534022', PAUSE)],
  ...['0', '3', '130497', '131031', '131042', '131045', '133010'].map((code): Row => [
    'whatsapp',
    code,
    400,
    refusal(code, PAUSE),
  ]),
  ...['80007', '130429'].map((code): Row => [
    'whatsapp',
    code,
    400,
    refusal(code, { retry: 'back-off' }),
  ]),
  ['whatsapp', '131056', 400, refusal('131056', { retry: 'back-off', retryAfterMs: 6_000 })],
  ['whatsapp', '131050', 400, refusal('131050', { optedOut: true })],
  ...['131021', '131026', '131047', '131048', '131049', '131051', '131053'].map((code): Row => [
    'whatsapp',
    code,
    400,
    refusal(code),
  ]),
  ...['132000', '132016'].map((code): Row => ['whatsapp', code, 400, refusal(code)]),
  ...['131000', '131016', '131057', '133004', '133005'].map((code): Row => [
    'whatsapp',
    code,
    500,
    { kind: 'unknown', code },
  ]),
];

const TWILIO_ROWS: readonly (readonly [number, number, object])[] = [
  [20003, 401, refusal('20003', PAUSE)],
  [20005, 403, refusal('20005', PAUSE)],
  [10001, 401, refusal('10001', PAUSE)],
  [20008, 403, refusal('20008', PAUSE)],
  [20404, 404, refusal('20404')],
  [20429, 429, refusal('20429', { retry: 'back-off' })],
  [21211, 400, refusal('21211')],
  [21614, 400, refusal('21614')],
  [21408, 400, refusal('21408')],
  [21610, 400, refusal('21610', { optedOut: true })],
  [21617, 400, refusal('21617')],
  [29999, 400, refusal('29999')],
  [20500, 500, { kind: 'unknown', code: '20500' }],
];

describe("a provider's error", () => {
  it.each(GRAPH_ROWS)(
    'on %s with code %s under %d is classified by its table [IN4, C6]',
    async (channel, given, status, outcome) => {
      const [code, subcode] = given.split('/').map(Number);
      const error = { message: 'x', type: 'OAuthException', code };
      provider.answer = json(status, {
        error: { ...error, ...(subcode === undefined ? {} : { error_subcode: subcode }) },
      });
      expect(await send(channel)).toEqual(outcome);
      expect(provider.seen).toHaveLength(1);
    },
  );

  it.each(TWILIO_ROWS)(
    'of Twilio with code %d under %d is classified by its table [IN4, C6]',
    async (code, status, outcome) => {
      provider.answer = json(status, { code, message: 'x', more_info: 'x', status });
      expect(await send('sms')).toEqual(outcome);
      expect(provider.seen).toHaveLength(1);
    },
  );
});

describe('the wait before another attempt', () => {
  const limited = { error: { code: 613 } };
  it.each([
    ['seconds', { 'retry-after': '120' }, 120_000],
    [
      'a date',
      { date: 'Mon, 02 Nov 2026 15:27:00 GMT', 'retry-after': 'Mon, 02 Nov 2026 15:28:30 GMT' },
      90_000,
    ],
    [
      'a date that has passed',
      { date: 'Mon, 02 Nov 2026 15:27:00 GMT', 'retry-after': 'Mon, 02 Nov 2026 15:26:00 GMT' },
      0,
    ],
    ['nothing readable', { 'retry-after': 'soon' }, null],
    ['nothing', {}, null],
    ['minutes of usage', usage(3), 180_000],
    ['no minutes of usage', usage(0), null],
    ['unreadable usage', { 'x-business-use-case-usage': '{' }, null],
  ])('is what the provider asks for in %s [IN4]', async (_name, headers, retryAfterMs) => {
    provider.answer = json(429, limited, headers);
    expect(await send('messenger')).toEqual(refusal('613', { retry: 'back-off', retryAfterMs }));
  });

  it('is never shorter than WhatsApp demands for the same person [IN4]', async () => {
    const paced = { error: { code: 131056 } };
    provider.answer = json(400, paced, { 'retry-after': '1' });
    expect(await send('whatsapp')).toMatchObject({ retryAfterMs: 6_000 });
    provider.answer = json(400, paced, { 'retry-after': '60' });
    expect(await send('whatsapp')).toMatchObject({ retryAfterMs: 60_000 });
  });

  it('is read from Twilio too [IN4]', async () => {
    provider.answer = json(429, { code: 20429 }, { 'retry-after': '7' });
    expect(await send('sms')).toMatchObject({ retry: 'back-off', retryAfterMs: 7_000 });
  });

  function usage(minutes: number) {
    const use = { type: 'messenger', estimated_time_to_regain_access: minutes };
    return {
      'x-business-use-case-usage': JSON.stringify({ '1': [use], '2': [use, 5], '3': null }),
    };
  }
});
