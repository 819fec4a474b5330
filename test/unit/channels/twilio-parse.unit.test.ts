import fc from 'fast-check';
import { makeTwilioSmsEndpoint } from '../../../channels/twilio/sms-endpoint';
import { makeTwilioStatusEndpoint } from '../../../channels/twilio/status-endpoint';
import { ATTEMPT, only, rawRequest } from './support';

const SID = `SM${'1'.repeat(32)}`;
const SMS = {
  MessageSid: SID,
  SmsMessageSid: SID,
  SmsSid: SID,
  AccountSid: `AC${'1'.repeat(32)}`,
  From: '+13125550142',
  To: '+13125550100',
  Body: 'Do you do same day?',
  NumMedia: '0',
  ApiVersion: '2010-04-01',
};

function parseSms(fields: Readonly<Record<string, string>>) {
  const body = Buffer.from(new URLSearchParams({ ...SMS, ...fields }).toString());
  return makeTwilioSmsEndpoint({ authTokens: ['token'] }).parse(rawRequest({ body }));
}

function parseStatus(fields: Readonly<Record<string, string>>, query = `?attempt=${ATTEMPT}`) {
  const ours = { MessageSid: SID, From: '+13125550100', To: '+13125550142' };
  const body = Buffer.from(new URLSearchParams({ ...ours, ...fields }).toString());
  const target = `/webhooks/twilio/status${query}`;
  return makeTwilioStatusEndpoint({ authTokens: ['token'] }).parse(rawRequest({ body, target }));
}

describe('an incoming text', () => {
  it('is a turn without a time of its own [IN1, L2]', () => {
    expect(only(parseSms({}), 'message')).toEqual({
      type: 'message',
      path: '$',
      channel: 'sms',
      accountExternalId: '+13125550100',
      eventKey: `message:${SID}`,
      stableContent: expect.any(String),
      source: { at: null, precision: 'none' },
      providerMessageId: SID,
      from: [{ kind: 'phone', value: '+13125550142' }],
      profileName: null,
      text: 'Do you do same day?',
      media: [],
      unsupported: false,
      providerOptOut: null,
      providerConfirmsOptOut: false,
    });
  });

  it('keeps NUL and emoji as they were sent [IN4]', () => {
    expect(only(parseSms({ Body: 'hi\u0000🦁' }), 'message').text).toBe('hi\u0000🦁');
  });

  it('is told apart by its sid alone, whichever of the three names it has [IN1]', () => {
    const element = only(parseSms({ MessageSid: '', SmsMessageSid: '' }), 'message');
    expect(element.eventKey).toBe(`message:${SID}`);
  });

  it('has the same content in a retry with other parameters [IN3]', () => {
    const contents = [{}, { ErrorCode: '11200', ErrorUrl: 'https://a', NewField: 'x' }].map(
      (fields) => only(parseSms(fields), 'message').stableContent,
    );
    expect(contents[0]).toBe(contents[1]);
  });

  it('may be pictures and voice without a word [IN7]', () => {
    const element = only(
      parseSms({
        ...{ Body: '', NumMedia: '4' },
        ...{ MediaUrl0: 'https://a/0', MediaContentType0: 'image/jpeg' },
        ...{ MediaUrl1: 'https://a/1', MediaContentType1: 'audio/amr' },
        ...{ MediaUrl2: 'https://a/2', MediaContentType2: 'application/pdf' },
      }),
      'message',
    );
    expect(element.text).toBeNull();
    expect(element.media).toEqual([
      { kind: 'image', reference: 'https://a/0' },
      { kind: 'audio', reference: 'https://a/1' },
      { kind: 'file', reference: 'https://a/2' },
      { kind: 'other', reference: 'media-3' },
    ]);
  });

  it.each(['-1', 'many', '1e9', '0.5'])('survives the media count %s [IN4]', (count) => {
    const media = only(parseSms({ NumMedia: count }), 'message').media;
    expect(media.length).toBeLessThanOrEqual(10);
  });

  it.each([
    ['no sid', { MessageSid: '', SmsMessageSid: '', SmsSid: '' }, true],
    ['a sid that no key can hold', { MessageSid: 'S\u0000', SmsMessageSid: '', SmsSid: '' }, true],
    ['no sender', { From: '' }, true],
    ['another channel of Twilio', { From: 'whatsapp:+13125550142' }, true],
    ['a short code', { From: '262966' }, false],
    ['a sender name', { From: 'ACME Bank' }, false],
  ])('with %s is quarantined; a person may wait: %s [IN4]', (_name, fields, mayBeLeadMessage) => {
    expect(only(parseSms(fields), 'quarantined').mayBeLeadMessage).toBe(mayBeLeadMessage);
  });

  it('that is no form at all is left to a person [IN4]', () => {
    const endpoint = makeTwilioSmsEndpoint({ authTokens: ['token'] });
    const elements = endpoint.parse(rawRequest({ body: Buffer.from('{"Body":"Hi"}') }));
    expect(only(elements, 'quarantined').mayBeLeadMessage).toBe(true);
  });

  it('is answered with empty TwiML, so that Twilio sends nothing itself [IN2]', () => {
    const { success } = makeTwilioSmsEndpoint({ authTokens: ['token'] });
    expect(success).toEqual({ contentType: 'text/xml', body: '<Response/>' });
  });
});

describe("Twilio's own keywords", () => {
  it.each([
    ['STOP', 'stop'],
    ['stop', 'stop'],
    [' Stop \n', 'stop'],
    ['UNSUBSCRIBE', 'stop'],
    ['END', 'stop'],
    ['QUIT', 'stop'],
    ['STOPALL', 'stop'],
    ['REVOKE', 'stop'],
    ['OPTOUT', 'stop'],
    ['CANCEL', 'stop'],
    ['START', 'start'],
    ['UNSTOP', 'start'],
    ['HELP', 'help'],
    ['INFO', 'help'],
    ['YES', null],
    ["don't stop by before noon", null],
    ['please stop texting me', null],
    ['constructor', null],
    ['', null],
  ])('"%s" reads as %s [S2]', (body, providerOptOut) => {
    expect(only(parseSms({ Body: body }), 'message')).toMatchObject({
      providerOptOut,
      providerConfirmsOptOut: providerOptOut === 'stop',
    });
  });

  it.each([
    ['STOP', 'stop'],
    ['START', 'start'],
    ['HELP', 'help'],
    ['NEW', null],
  ])('the flag %s of Advanced Opt-Out reads as %s, whatever the words [S2]', (flag, expected) => {
    const element = only(parseSms({ OptOutType: flag, Body: 'basta' }), 'message');
    expect(element.providerOptOut).toBe(expected);
  });
});

describe('the stand-in of a reaction', () => {
  it.each([
    'Liked “Yes, today after 2 pm works.”',
    'Loved "Yes, today."',
    'Laughed at “A line\nand another”',
    'Emphasized “Yes”',
    'Emphasised “Yes”',
    'Questioned “Yes”',
    'Disliked an image',
    'Loved an image',
    'Liked a movie',
    'Removed a like from “Yes”',
    'Removed a heart from “Yes”',
    'Removed an exclamation mark from “Yes”',
    'Reacted 😂 to “Yes”',
    'Reacted ❤️ to an image',
    '👍 to “Yes”',
    '\u200A👍🏽\u200B to “ \u200AYes\u200A ” ',
    'Removed 👍 from “Yes”',
  ])('"%s" is a note [IN7]', (body) => {
    expect(only(parseSms({ Body: body }), 'note')).toMatchObject({
      kind: 'reaction',
      eventKey: `reaction:${SID}`,
    });
  });

  it.each([
    'Liked “your work”, can you do Tuesday?',
    'Loved it! When can you come?',
    'Loved an image you posted, how much is that?',
    'Liked',
    'I liked “the blue one”',
    '👍',
    '👍 to Tuesday',
    'Reacted badly to “the quote”',
    'Questioned whether “urgent” costs extra?',
  ])('"%s" is a turn [IN7]', (body) => {
    expect(only(parseSms({ Body: body }), 'message').text).toBe(body);
  });

  it('with a picture is a turn [IN7]', () => {
    only(parseSms({ Body: 'Loved an image', NumMedia: '1' }), 'message');
  });
});

describe('a status callback', () => {
  it.each([
    ['accepted', 'queued'],
    ['scheduled', 'queued'],
    ['queued', 'queued'],
    ['sending', 'queued'],
    ['sent', 'sent'],
    ['delivered', 'delivered'],
    ['read', 'read'],
    ['undelivered', 'failed'],
    ['failed', 'failed'],
  ])('"%s" reads as %s and gives our attempt back [C3]', (wire, status) => {
    expect(only(parseStatus({ MessageStatus: wire }), 'status')).toMatchObject({
      channel: 'sms',
      accountExternalId: '+13125550100',
      eventKey: `status:${SID}:${wire}`,
      providerMessageId: SID,
      status,
      attemptRef: ATTEMPT,
      errorCode: null,
      watermark: null,
    });
  });

  it.each([
    ['30007', 'failed', '30007'],
    ['', 'failed', null],
    ['0', 'undelivered', null],
    ['no code', 'failed', null],
    ['', 'canceled', 'canceled'],
  ])(
    'with the code "%s" and the status %s has the error %s [IN3]',
    (ErrorCode, wire, errorCode) => {
      const element = only(parseStatus({ MessageStatus: wire, ErrorCode }), 'status');
      expect(element).toMatchObject({ status: 'failed', errorCode });
      expect(element.eventKey.endsWith(errorCode ?? wire)).toBe(true);
    },
  );

  it.each([
    ['', null],
    ['?x=1', null],
    ['?attempt=abc', null],
    [`?x=1&attempt=${ATTEMPT}`, ATTEMPT],
    [`?attempt=${ATTEMPT}#rc=2`, ATTEMPT],
  ])('at the query "%s" names the attempt %s [C6]', (query, attemptRef) => {
    const element = only(parseStatus({ MessageStatus: 'sent' }, query), 'status');
    expect(element.attemptRef).toBe(attemptRef);
  });

  it.each([
    ['no sid', { MessageSid: '', MessageStatus: 'sent' }],
    ['no status', {}],
    ['an unknown status', { MessageStatus: 'partially_delivered' }],
    ['a status named like a method', { MessageStatus: 'constructor' }],
  ])('with %s is quarantined and nobody waits [IN4]', (_name, fields) => {
    expect(only(parseStatus(fields), 'quarantined').mayBeLeadMessage).toBe(false);
  });
});

describe('parsing forms never throws', () => {
  const endpoints = [
    makeTwilioSmsEndpoint({ authTokens: ['token'] }),
    makeTwilioStatusEndpoint({ authTokens: ['token'] }),
  ];

  it.each(endpoints.map((endpoint) => [endpoint]))('and gives one element [IN4]', (endpoint) => {
    const name = fc.constantFrom(...Object.keys(SMS), 'MessageStatus', '__proto__', 'MediaUrl0');
    const pairs = fc.array(fc.tuple(name, fc.string({ unit: 'binary' })));
    const fromPairs = pairs.map((it) => Buffer.from(new URLSearchParams(it).toString()));
    const fromBytes = fc.uint8Array().map((bytes) => Buffer.from(bytes));
    fc.assert(
      fc.property(fc.oneof(fromPairs, fromBytes), fc.string(), (body, target) => {
        expect(endpoint.parse(rawRequest({ body, target }))).toHaveLength(1);
      }),
    );
  });
});
