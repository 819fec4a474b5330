import { ATTEMPT, only, parseMeta } from './support';

const NUMBER_ID = '300000000000003';
const BSUID = 'US.1000200030004000';
const SOURCE = { at: '2026-11-02T15:27:09.000Z', precision: 'seconds' };
const PHONE = { kind: 'phone', value: '+13125550142' };
const USER = { kind: 'whatsapp-user', value: BSUID };
const CONTACT = { profile: { name: 'Robin T' }, wa_id: '13125550142' };

function parseChange(field: string, value: object) {
  const metadata = { display_phone_number: '+1 312-555-0100', phone_number_id: NUMBER_ID };
  const changes = [{ field, value: { messaging_product: 'whatsapp', metadata, ...value } }];
  return parseMeta({
    object: 'whatsapp_business_account',
    entry: [{ id: '200000000000002', changes }],
  });
}

function parseMessage(message: object, contacts: readonly unknown[] = [CONTACT]) {
  const head = { from: '13125550142', id: 'wamid.1', timestamp: '1793633229' };
  return parseChange('messages', { contacts, messages: [{ ...head, ...message }] });
}

const text = (body: string) => ({ type: 'text', text: { body } });

describe('who wrote on WhatsApp', () => {
  it('is the phone number where Meta gives no scoped id [IN1]', () => {
    expect(only(parseMessage(text('Hi')), 'message')).toEqual({
      type: 'message',
      path: 'entry[0].changes[0].value.messages[0]',
      channel: 'whatsapp',
      accountExternalId: NUMBER_ID,
      eventKey: 'message:wamid.1',
      stableContent: expect.any(String),
      source: SOURCE,
      providerMessageId: 'wamid.1',
      from: [PHONE],
      profileName: 'Robin T',
      text: 'Hi',
      media: [],
      unsupported: false,
      providerOptOut: null,
      providerConfirmsOptOut: false,
    });
  });

  it('is the scoped id alone for a person known by username [IN1]', () => {
    const contacts = [{ profile: { name: 'Robin', username: 'robin.t' }, user_id: BSUID }];
    const message = { from: undefined, from_user_id: BSUID, ...text('Hi') };
    const element = only(parseMessage(message, contacts), 'message');
    expect(element).toMatchObject({ from: [USER], profileName: 'Robin' });
  });

  it('is the scoped id first and the phone as alias once both are there [IN1]', () => {
    const contacts = [{ ...CONTACT, user_id: BSUID }];
    const both = [USER, PHONE];
    const withOwnId = parseMessage({ from_user_id: BSUID, ...text('Hi') }, contacts);
    expect(only(withOwnId, 'message').from).toEqual(both);
    expect(only(parseMessage(text('Hi'), contacts), 'message').from).toEqual(both);
  });

  it.each([
    [
      'where the message names nobody',
      { from: undefined },
      [{ ...CONTACT, user_id: BSUID }],
      [USER, PHONE],
    ],
    ['where the id stands in the phone field', { from: BSUID }, [], [USER]],
    [
      'never from the contact of somebody else',
      {},
      [{ wa_id: '13125550199', user_id: 'US.9' }],
      [PHONE],
    ],
    ['where the contacts are unreadable', {}, [5, { wa_id: {} }], [PHONE]],
  ])('is found %s [IN1]', (_name, message, contacts, from) => {
    expect(only(parseMessage({ ...text('Hi'), ...message }, contacts), 'message').from).toEqual(
      from,
    );
  });

  it('is for a person to find out where nothing names them [IN4]', () => {
    const elements = parseMessage({ from: undefined, ...text('Hi') }, []);
    expect(only(elements, 'quarantined').mayBeLeadMessage).toBe(true);
  });

  it('keeps the digits of an id that came as a number [IN1]', () => {
    const element = only(parseMessage({ from: 13125550142, ...text('Hi') }), 'message');
    expect(element.from).toEqual([PHONE]);
  });
});

describe('a message on WhatsApp', () => {
  const file = { id: 'media-1', mime_type: 'x/y', sha256: 'x' };
  it.each([
    ['text', text('Leak!'), 'Leak!', []],
    ['image', { image: file }, null, [['image', 'media-1']]],
    ['image', { image: { ...file, caption: 'here' } }, 'here', [['image', 'media-1']]],
    ['video', { video: file }, null, [['video', 'media-1']]],
    ['audio', { audio: { ...file, voice: true } }, null, [['audio', 'media-1']]],
    ['document', { document: { ...file, caption: 'plan' } }, 'plan', [['file', 'media-1']]],
    ['sticker', { sticker: file }, null, [['sticker', 'media-1']]],
    [
      'location',
      { location: { latitude: 41.9, longitude: -87.6 } },
      null,
      [['location', '41.9,-87.6']],
    ],
    [
      'location',
      { location: { latitude: 1, longitude: 2, name: 'Home', address: '1 Elm St' } },
      'Home, 1 Elm St',
      [['location', '1,2']],
    ],
    ['contacts', { contacts: [{ name: {} }] }, null, [['other', 'contacts']]],
    ['button', { button: { text: 'Yes', payload: 'Y' } }, 'Yes', []],
    ['interactive', { interactive: { button_reply: { id: '1', title: 'Today' } } }, 'Today', []],
    [
      'interactive',
      { interactive: { list_reply: { id: '1', title: 'Repair', description: 'of boilers' } } },
      'Repair\nof boilers',
      [],
    ],
    ['interactive', { interactive: { nfm_reply: { body: 'Sent' } } }, 'Sent', []],
    ['order', { order: { text: 'two please' } }, 'two please', [['other', 'order']]],
  ])('of the type %s is a turn: %j [IN7]', (type, content, words, media) => {
    const element = only(parseMessage({ type, ...content }), 'message');
    expect(element).toMatchObject({ text: words, unsupported: false });
    expect(element.media.map(({ kind, reference }) => [kind, reference])).toEqual(media);
  });

  it.each([
    ['unsupported', { errors: [{ code: 131051, title: 'Unsupported' }] }],
    ['unknown', { errors: [{ code: 131051 }] }],
    ['interactive', { interactive: { nfm_reply: {} } }],
  ])('of the type %s is a turn that asks for text [IN7]', (type, content) => {
    const element = only(parseMessage({ type, ...content }), 'message');
    expect(element).toMatchObject({ unsupported: true, text: null });
  });

  it.each([
    ['an unknown type', { type: 'hologram', hologram: {} }],
    ['a type named like a method', { type: 'toString' }],
    ['no type', {}],
    ['a text without a body', { type: 'text', text: {} }],
    ['a picture without an id', { type: 'image', image: {} }],
  ])('with %s is left to a person [IN4]', (_name, message) => {
    expect(only(parseMessage(message), 'quarantined').mayBeLeadMessage).toBe(true);
  });

  it.each([
    ['reaction', { reaction: { message_id: 'wamid.0', emoji: '👍' } }],
    ['reaction', { reaction: { message_id: 'wamid.0' } }],
    ['system', { system: { type: 'user_changed_number', wa_id: '13125550143' } }],
  ])('of the type %s is a note [IN7]', (type, content) => {
    expect(only(parseMessage({ type, ...content }), 'note')).toMatchObject({
      kind: type,
      eventKey: `${type}:wamid.1`,
    });
  });

  it('that changes an earlier one is an edit of it [IN7]', () => {
    const edit = { original_message_id: 'wamid.0', message: text('Friday') };
    expect(only(parseMessage({ type: 'edit', edit }), 'edit')).toMatchObject({
      eventKey: 'edit:wamid.1',
      providerMessageId: 'wamid.0',
      from: [PHONE],
      text: 'Friday',
    });
  });

  it('that withdraws an earlier one is a deletion of it [IN7]', () => {
    const revoke = { original_message_id: 'wamid.0' };
    expect(only(parseMessage({ type: 'revoke', revoke }), 'delete')).toMatchObject({
      eventKey: 'delete:wamid.1',
      providerMessageId: 'wamid.0',
      text: null,
    });
  });
});

describe('a status on WhatsApp', () => {
  const parseStatus = (status: object) =>
    parseChange('messages', {
      statuses: [
        { id: 'wamid.3', timestamp: '1793633229', recipient_id: '13125550142', ...status },
      ],
    });

  it.each([
    ['sent', 'sent'],
    ['delivered', 'delivered'],
    ['read', 'read'],
    ['played', 'read'],
    ['failed', 'failed'],
  ])('"%s" reads as %s and gives our attempt back [C3]', (wire, status) => {
    const elements = parseStatus({ status: wire, biz_opaque_callback_data: ATTEMPT });
    expect(only(elements, 'status')).toMatchObject({
      eventKey: `status:wamid.3:${wire}`,
      providerMessageId: 'wamid.3',
      status,
      attemptRef: ATTEMPT,
      errorCode: null,
      source: SOURCE,
    });
  });

  it('that names its error is news after one that does not [IN3]', () => {
    const named = only(parseStatus({ status: 'failed', errors: [{ code: 131047 }] }), 'status');
    const bare = only(parseStatus({ status: 'failed' }), 'status');
    expect(named).toMatchObject({ errorCode: '131047', eventKey: 'status:wamid.3:failed:131047' });
    expect(bare.eventKey).not.toBe(named.eventKey);
  });

  it.each([{ status: 'warned' }, { status: 'constructor' }, {}])(
    'that is not known is quarantined and nobody waits: %j [IN4]',
    (status) => {
      expect(only(parseStatus(status), 'quarantined').mayBeLeadMessage).toBe(false);
    },
  );

  it('carries no foreign callback data as an attempt [IN7]', () => {
    const elements = parseStatus({ status: 'sent', biz_opaque_callback_data: 'campaign-9' });
    expect(only(elements, 'status').attemptRef).toBeNull();
  });
});

describe('the owner in the phone app', () => {
  const parseEcho = (message: object) => {
    const head = { from: '13125550100', to: '13125550142', id: 'wamid.8', timestamp: '1793633229' };
    return parseChange('smb_message_echoes', { message_echoes: [{ ...head, ...message }] });
  };

  it('is a person who acted elsewhere [IN7]', () => {
    expect(only(parseEcho(text('I will call you')), 'echo')).toMatchObject({
      eventKey: 'echo:wamid.8',
      providerMessageId: 'wamid.8',
      to: [PHONE],
      author: 'other',
      attemptRef: null,
      text: 'I will call you',
    });
  });

  it('may write to a person known by username [IN7]', () => {
    const echo = only(parseEcho({ to: undefined, to_user_id: BSUID, ...text('Hi') }), 'echo');
    expect(echo.to).toEqual([USER]);
  });

  it.each(['reaction', 'edit', 'revoke'])('who sends a %s gives a note [IN7]', (type) => {
    expect(only(parseEcho({ type, [type]: {} }), 'note').kind).toBe(`echo-${type}`);
  });

  it('whose message has an unknown type still took over [IN7]', () => {
    expect(only(parseEcho({ type: 'hologram' }), 'echo').text).toBeNull();
  });
});

describe('imported history', () => {
  const message = (id: string, from: string, at: string) => ({
    ...{ id, from, timestamp: at },
    ...text(`text ${id}`),
    history_context: { status: 'READ' },
  });

  it('is silent: 300 old messages are notes with their own times, a live one is a turn [IN7]', () => {
    const messages = Array.from({ length: 300 }, (_, index) =>
      message(`h${index}`, index % 2 === 0 ? '13125550142' : '13125550100', '1778081229'),
    );
    const history = [{ metadata: { phase: 0 }, threads: [{ id: '13125550142', messages }] }];
    const notes = parseChange('history', { history });
    expect(notes).toHaveLength(300);
    expect(notes.every(({ type }) => type === 'note')).toBe(true);
    expect(notes.slice(0, 2)).toMatchObject([
      {
        kind: 'history',
        eventKey: 'history:h0',
        source: { at: '2026-05-06T15:27:09.000Z', precision: 'seconds' },
        history: { providerMessageId: 'h0', direction: 'in', lead: [PHONE], text: 'text h0' },
      },
      { history: { providerMessageId: 'h1', direction: 'out', lead: [PHONE], text: 'text h1' } },
    ]);
    expect(only(parseMessage(text('live')), 'message').text).toBe('live');
  });

  it.each([
    [
      'declined by the business',
      { history: [{ errors: [{ code: 2593109 }] }] },
      'history-progress',
    ],
    ['media that follow', { messages: [message('h1', '13125550142', '1778081229')] }, 'history'],
  ])('%s is a note [IN7]', (_name, value, kind) => {
    expect(only(parseChange('history', value), 'note').kind).toBe(kind);
  });

  it('that is broken waits for nobody [IN4]', () => {
    const history = [{ threads: [{ id: '13125550142', messages: [{ type: 'text' }, 5] }] }, 7];
    const elements = parseChange('history', { history });
    expect(elements).toHaveLength(3);
    expect(elements).toMatchObject(Array(3).fill({ type: 'quarantined', mayBeLeadMessage: false }));
  });
});

describe('marketing preferences', () => {
  it.each([
    ['stop', 'stop', true],
    ['resume', 'start', false],
  ])('"%s" reads as the opt-out flag %s [S2]', (value, providerOptOut, confirms) => {
    const preference = { wa_id: '13125550142', detail: 'x', category: 'marketing_messages', value };
    const elements = parseChange('user_preferences', {
      contacts: [{ ...CONTACT, user_id: BSUID }],
      user_preferences: [{ ...preference, timestamp: '1793633229' }],
    });
    expect(only(elements, 'message')).toMatchObject({
      from: [USER, PHONE],
      text: null,
      providerOptOut,
      providerConfirmsOptOut: confirms,
      source: SOURCE,
    });
  });

  it('of another category are a note [IN7]', () => {
    const user_preferences = [{ wa_id: '13125550142', category: 'colours', value: 'stop' }];
    only(parseChange('user_preferences', { user_preferences }), 'note');
  });
});

describe('other changes of WhatsApp', () => {
  it.each(['account_update', 'smb_app_state_sync', 'user_id_update', 'calls'])(
    '"%s" is a note [IN7]',
    (field) => {
      expect(only(parseChange(field, { any: 1 }), 'note').kind).toBe(`whatsapp:${field}`);
    },
  );

  it.each([
    ['an unknown field with messages', 'group_talk', { messages: [] }, true],
    ['an unknown field without any', 'weather', { rain: true }, false],
    ['a value without events', 'messages', {}, true],
    ['a value without a phone number', 'messages', { metadata: {}, messages: [] }, true],
  ])('%s is quarantined [IN4]', (_name, field, value, mayBeLeadMessage) => {
    const element = only(parseChange(field, value), 'quarantined');
    expect(element.mayBeLeadMessage).toBe(mayBeLeadMessage);
  });

  it('errors of the account are notes [IN7]', () => {
    const elements = parseChange('messages', { errors: [{ code: 130429 }] });
    expect(only(elements, 'note').kind).toBe('whatsapp:error');
  });
});
