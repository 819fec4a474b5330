import fc from 'fast-check';
import type { InboundElement } from '../../../domain/inbound';
import { metaEndpoint, only, parseMeta, rawRequest } from './support';

const PAGE = '100000000000001';

function pageMessage(sender: string, mid: string, text = 'Hi') {
  return {
    sender: { id: sender },
    recipient: { id: PAGE },
    timestamp: 1793633229877,
    message: { mid, text },
  };
}

function whatsAppValue(phoneNumberId: string, ids: readonly string[]) {
  return {
    messaging_product: 'whatsapp',
    metadata: { display_phone_number: '13125550100', phone_number_id: phoneNumberId },
    contacts: [{ profile: { name: 'Robin T' }, wa_id: '13125550142' }],
    messages: ids.map((id) => ({
      from: '13125550142',
      id,
      timestamp: '1793633229',
      type: 'text',
      text: { body: `text of ${id}` },
    })),
  };
}

const types = (elements: readonly InboundElement[]) => elements.map(({ type }) => type);

describe('a batch of Meta', () => {
  it('gives all 12 messages of 2 entries with 2 changes of 3, an unknown number included [IN7]', () => {
    const change = (number: string, tag: string) => ({
      field: 'messages',
      value: whatsAppValue(number, [`${tag}1`, `${tag}2`, `${tag}3`]),
    });
    const elements = parseMeta({
      object: 'whatsapp_business_account',
      entry: [
        { id: '200000000000002', changes: [change('300000000000003', 'a'), change('999', 'b')] },
        { id: '200000000000002', changes: [change('300000000000003', 'c'), change('999', 'd')] },
      ],
    });
    expect(types(elements)).toEqual(Array(12).fill('message'));
    expect(new Set(elements.map(({ path }) => path)).size).toBe(12);
    expect(elements.map(({ eventKey }) => eventKey)).toEqual(
      ['a', 'b', 'c', 'd'].flatMap((tag) => [1, 2, 3].map((turn) => `message:${tag}${turn}`)),
    );
    expect(elements.filter((it) => it.accountExternalId === '999')).toHaveLength(6);
    expect(elements[4]?.path).toBe('entry[0].changes[1].value.messages[1]');
  });

  it('gives both messages of two leads in each of two Messenger entries [IN7]', () => {
    const entry = (tag: string) => ({
      id: PAGE,
      time: 1793633230412,
      messaging: [pageMessage('71', `${tag}1`), pageMessage('72', `${tag}2`)],
    });
    const elements = parseMeta({ object: 'page', entry: [entry('m'), entry('n')] });
    expect(elements.map(({ eventKey }) => eventKey)).toEqual([
      'message:m1',
      'message:m2',
      'message:n1',
      'message:n2',
    ]);
  });

  it('quarantines a broken element alone and keeps its neighbours [IN4, IN7]', () => {
    const elements = parseMeta({
      object: 'page',
      entry: [
        {
          id: PAGE,
          messaging: [pageMessage('71', 'm1'), { message: { text: 'no ids' } }, 17, null],
        },
        'no entry',
        { id: PAGE, messaging: [pageMessage('72', 'm2')] },
      ],
    });
    expect(types(elements)).toEqual([
      'message',
      'quarantined',
      'quarantined',
      'quarantined',
      'quarantined',
      'message',
    ]);
    expect(elements[1]).toMatchObject({
      path: 'entry[0].messaging[1]',
      mayBeLeadMessage: true,
      reason: expect.stringContaining('mid'),
    });
  });

  it('keeps 49 of 50 statuses where the 17th is malformed [IN4]', () => {
    const statuses = Array.from({ length: 50 }, (_, index) =>
      index === 16
        ? { id: { broken: true }, status: 'read' }
        : { id: `wamid.${index}`, status: 'delivered', timestamp: '1793633235' },
    );
    const value = { ...whatsAppValue('3', []), statuses };
    const elements = parseMeta({
      object: 'whatsapp_business_account',
      entry: [{ id: '2', changes: [{ field: 'messages', value }] }],
    });
    expect(elements.filter(({ type }) => type === 'status')).toHaveLength(49);
    expect(elements[16]).toMatchObject({ type: 'quarantined', mayBeLeadMessage: false });
  });

  it('reads a status for an unknown message beside a real message in one value [IN7]', () => {
    const value = {
      ...whatsAppValue('3', ['wamid.1']),
      statuses: [{ id: 'wamid.UNKNOWN', status: 'read', timestamp: '1793633235' }],
    };
    const elements = parseMeta({
      object: 'whatsapp_business_account',
      entry: [{ id: '2', changes: [{ field: 'messages', value }] }],
    });
    expect(types(elements)).toEqual(['message', 'status']);
  });

  it('gives a redelivery the same keys and contents, whatever its grouping and dispatch time [IN3]', () => {
    const [first] = parseMeta({
      object: 'page',
      entry: [{ id: PAGE, time: 1, messaging: [pageMessage('71', 'm1')] }],
    });
    const again = parseMeta({
      entry: [{ messaging: [pageMessage('72', 'm0'), pageMessage('71', 'm1')], time: 2, id: PAGE }],
      object: 'page',
    })[1];
    expect(again?.eventKey).toBe(first?.eventKey);
    expect(again?.stableContent).toBe(first?.stableContent);
  });

  it('gives one id with two senders two contents [IN3]', () => {
    const contents = ['71', '72'].map((sender) => {
      const entry = [{ id: PAGE, messaging: [pageMessage(sender, 'm1')] }];
      return only(parseMeta({ object: 'page', entry }), 'message').stableContent;
    });
    expect(contents[0]).not.toBe(contents[1]);
  });
});

describe('ids beyond 2^53', () => {
  it('keep every digit of a leadgen delivery, as numbers and as text [IN1]', () => {
    const value =
      '{"leadgen_id":444888123456789013,"page_id":100000000000000017,' +
      '"form_id":600000000000000023,"created_time":1793633228}';
    const body = (given: string) =>
      `{"object":"page","entry":[{"id":100000000000000017,"time":1793633230,` +
      `"changes":[{"field":"leadgen","value":${given}}]}]}`;
    const quoted = value.replace(/:(\d{17,})/g, ':"$1"');
    const notes = [value, quoted].map((given) => only(parseMeta(body(given)), 'note'));
    expect(notes[0]).toMatchObject({
      kind: 'later:leadgen',
      eventKey: 'leadgen:444888123456789013',
      accountExternalId: '100000000000000017',
      source: { at: '2026-11-02T15:27:08.000Z', precision: 'seconds' },
    });
    expect(notes[0]?.stableContent).toContain('600000000000000023');
    expect(notes[1]?.stableContent).toBe(notes[0]?.stableContent);
  });

  it('keep every digit of a sender [IN1]', () => {
    const body =
      '{"object":"page","entry":[{"id":9007199254740993,"messaging":[{"sender":' +
      '{"id":9007199254740995},"recipient":{"id":9007199254740993},"timestamp":1793633229877,' +
      '"message":{"mid":"m1","text":"Hi"}}]}]}';
    expect(only(parseMeta(body), 'message').from).toEqual([
      { kind: 'messenger', value: '9007199254740993/9007199254740995' },
    ]);
  });

  it('leave a lead form without its id to a person [IN4]', () => {
    const changes = [{ field: 'leadgen', value: { page_id: PAGE } }];
    const [element] = parseMeta({ object: 'page', entry: [{ id: PAGE, changes }] });
    expect(element).toMatchObject({ type: 'quarantined', mayBeLeadMessage: true });
  });
});

describe('a body of Meta', () => {
  const message = JSON.stringify({
    object: 'page',
    entry: [{ id: PAGE, messaging: [pageMessage('71', 'm1', 'TEXT')] }],
  });
  const withText = (text: string) => message.replace('TEXT', text);

  it.each([
    ['NUL', 'hi\\u0000there', 'hi\u0000there'],
    ['a lone high surrogate', 'hi\\ud83d', 'hi\ud83d'],
    ['a lone low surrogate', '\\udc00hi', '\udc00hi'],
    ['an escaped emoji', '\\ud83e\\udd81', '🦁'],
    ['escaped slashes', 'https:\\/\\/a', 'https://a'],
  ])('passes the text with %s through as parsed [IN4]', (_name, escaped, text) => {
    expect(only(parseMeta(withText(escaped)), 'message').text).toBe(text);
  });

  it.each([
    ['a byte order mark', `\uFEFF${message}`],
    ['a trailing newline', `${message}\n`],
    ['line ends of two characters', message.replaceAll('{', '{\r\n')],
    ['a duplicate key, the last of which counts', message.replace('"m1"', '"m0","mid":"m1"')],
    ['a key named __proto__', message.replace('"mid"', '"__proto__":{"is_echo":true},"mid"')],
    ['a number written as 1.0', message.replace('"mid"', '"n":1.0,"mid"')],
  ])('is read in spite of %s [IN4]', (_name, body) => {
    expect(only(parseMeta(body), 'message').eventKey).toBe('message:m1');
  });

  it('keeps a message with one byte that is not UTF-8 [IN4]', () => {
    const [head = '', tail = ''] = message.split('TEXT');
    const body = Buffer.concat([Buffer.from(`${head}caf`), Buffer.from([0xe9]), Buffer.from(tail)]);
    const elements = metaEndpoint().parse(rawRequest({ body }));
    expect(only(elements, 'message').text).toBe('caf\uFFFD');
  });

  it('quarantines a message whose id lost a byte, because another id could lose the same [IN4]', () => {
    const [element] = parseMeta(message.replace('"m1"', '"m\uFFFD"'));
    expect(element).toMatchObject({ type: 'quarantined', mayBeLeadMessage: true });
  });

  const entries = (entry: unknown) => JSON.stringify({ object: 'page', entry });
  it.each([
    ['nothing', ''],
    ['half a document', '{"object":"page","entry":[{'],
    ['a word', 'hello'],
    ['null', 'null'],
    ['a list', '[]'],
    ['an object of an unknown kind', '{"object":"permissions","entry":[]}'],
    ['an object named like a method', '{"object":"toString","entry":[]}'],
    ['no entries', '{"object":"page"}'],
    ['entries that are no list', entries({})],
    ['a depth bomb of lists', '['.repeat(200_000)],
    ['a depth bomb of objects', '{"a":'.repeat(5_000) + '1' + '}'.repeat(5_000)],
  ])('that is %s is one quarantined element [IN4]', (_name, body) => {
    const element = only(parseMeta(body), 'quarantined');
    expect(element).toMatchObject({
      path: '$',
      channel: 'messenger',
      accountExternalId: '',
      eventKey: expect.stringMatching(/^unreadable:[0-9a-f]{64}$/),
      mayBeLeadMessage: true,
    });
  });

  it('counts brackets inside texts as text, not as depth [IN4]', () => {
    const text = '['.repeat(500) + '\\"{'.repeat(500);
    expect(only(parseMeta(withText(text)), 'message').text).toHaveLength(1500);
  });

  it.each([
    ['an entry without events', { id: PAGE, time: 5 }],
    ['an entry without an id', { messaging: [pageMessage('71', 'm1')] }],
    ['events that are no list', { id: PAGE, messaging: pageMessage('71', 'm1') }],
    ['an event of an unknown kind', { id: PAGE, messaging: [{ sender: { id: '1' }, wave: {} }] }],
    [
      'an unknown field with a sender',
      { id: PAGE, changes: [{ field: 'dm', value: { sender: 1 } }] },
    ],
    ['a change without a field', { id: PAGE, changes: [{ value: {} }] }],
  ])('with %s leaves it to a person [IN4]', (_name, entry) => {
    const element = only(parseMeta(entries([entry])), 'quarantined');
    expect(element.mayBeLeadMessage).toBe(true);
  });

  it('counts an unknown field without a message as nobody waiting [IN4]', () => {
    const changes = [{ field: 'page_colour', value: { colour: 'red' } }];
    const element = only(parseMeta(entries([{ id: PAGE, changes }])), 'quarantined');
    expect(element.mayBeLeadMessage).toBe(false);
  });

  it('names no content in the reason for a quarantine [IN4]', () => {
    const messaging = [{ sender: { id: 'Secret Name' }, message: { mid: 5, text: ['secret'] } }];
    const element = only(parseMeta(entries([{ id: PAGE, messaging }])), 'quarantined');
    expect(element.reason).not.toMatch(/secret/i);
  });

  it.each(['feed', 'comments', 'mention'])('notes the later field %s [IN4]', (field) => {
    const changes = [{ field, value: { item: 'comment', message: 'nice' } }];
    expect(only(parseMeta(entries([{ id: PAGE, changes }])), 'note').kind).toBe(`later:${field}`);
  });
});

describe('parsing never throws', () => {
  const parse = (body: Buffer) => metaEndpoint().parse(rawRequest({ body }));

  it('on arbitrary bytes [IN4]', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(parse(Buffer.from(bytes)).length).toBeGreaterThan(0);
      }),
    );
  });

  it('on arbitrary JSON in every place of a delivery, and every path is unique [IN4]', () => {
    const json = fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' });
    const delivery = fc.record({
      object: fc.constantFrom('page', 'instagram', 'whatsapp_business_account'),
      entry: fc.array(
        fc.record(
          {
            id: fc.oneof(fc.constant(PAGE), json),
            messaging: fc.oneof(fc.array(messagingItem(json)), json),
            standby: fc.array(messagingItem(json), { maxLength: 2 }),
            changes: fc.array(change(json), { maxLength: 3 }),
            field: json,
            value: json,
          },
          { requiredKeys: ['id'] },
        ),
        { maxLength: 3 },
      ),
    });
    fc.assert(
      fc.property(delivery, (value) => {
        const paths = parse(Buffer.from(JSON.stringify(value))).map(({ path }) => path);
        expect(new Set(paths).size).toBe(paths.length);
      }),
      { numRuns: 500 },
    );
  });
});

function messagingItem(json: fc.Arbitrary<unknown>) {
  const party = fc.oneof(fc.constant({ id: '71' }), fc.constant({ id: PAGE }), json);
  return fc.record(
    {
      sender: party,
      recipient: party,
      timestamp: json,
      message: fc.record({ mid: json, text: json, attachments: json, is_echo: json }),
      message_edit: json,
      reaction: json,
      delivery: fc.record({ mids: json, watermark: json }),
      read: json,
      postback: json,
    },
    { requiredKeys: ['sender', 'recipient'] },
  );
}

function change(json: fc.Arbitrary<unknown>) {
  const field = fc.constantFrom(
    ...['messages', 'smb_message_echoes', 'history', 'user_preferences', 'leadgen', 'x'],
  );
  const value = fc.record(
    {
      metadata: fc.oneof(fc.constant({ phone_number_id: '3' }), json),
      contacts: json,
      messages: fc.oneof(fc.array(json), json),
      statuses: fc.oneof(fc.array(json), json),
      message_echoes: json,
      history: json,
      user_preferences: json,
    },
    { requiredKeys: ['metadata'] },
  );
  return fc.oneof(json, fc.record({ field, value: fc.oneof(value, json) }));
}
