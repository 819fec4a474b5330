import { APP_ID, ATTEMPT, only, parseMeta } from './support';

const ACCOUNT = '17840000000000001';
const LEAD = '8000000000000001';
const AT = 1793633229877;
const SOURCE = { at: '2026-11-02T15:27:09.877Z', precision: 'milliseconds' };

type Product = 'page' | 'instagram';

function parseItems(product: Product, items: readonly unknown[], list = 'messaging') {
  return parseMeta({ object: product, entry: [{ id: ACCOUNT, time: 1, [list]: items }] });
}

const fromLead = (event: object) => ({
  sender: { id: LEAD },
  recipient: { id: ACCOUNT },
  timestamp: AT,
  ...event,
});
const fromAccount = (event: object) => ({
  sender: { id: ACCOUNT },
  recipient: { id: LEAD },
  timestamp: AT,
  ...event,
});
const messageFromLead = (message: object) => fromLead({ message: { mid: 'm1', ...message } });

describe('a message on Messenger or Instagram', () => {
  it.each([
    ['page', 'messenger'],
    ['instagram', 'instagram'],
  ] as const)('of the object %s is a turn on the channel %s [IN1, IN7]', (product, channel) => {
    const items = [messageFromLead({ text: 'Do you fix heaters?', reply_to: { mid: 'm0' } })];
    expect(only(parseItems(product, items), 'message')).toEqual({
      type: 'message',
      path: 'entry[0].messaging[0]',
      channel,
      accountExternalId: ACCOUNT,
      eventKey: 'message:m1',
      stableContent: expect.any(String),
      source: SOURCE,
      providerMessageId: 'm1',
      from: [{ kind: channel, value: `${ACCOUNT}/${LEAD}` }],
      profileName: null,
      text: 'Do you fix heaters?',
      media: [],
      unsupported: false,
      providerOptOut: null,
      providerConfirmsOptOut: false,
    });
  });

  it.each([
    ['a tapped quick reply', { text: 'Yes', quick_reply: { payload: 'Y' } }, 'Yes', [], false],
    ['a voice note', media('audio'), null, ['audio'], false],
    ['a picture with text', { text: 'This', ...media('image') }, 'This', ['image'], false],
    ['a sticker', media('sticker'), null, ['sticker'], false],
    ['a sticker of the old form', media('image', { sticker_id: 369 }), null, ['sticker'], false],
    ['a file', media('file'), null, ['file'], false],
    ['a shared reel', media('ig_reel'), null, ['other'], false],
    ['an unreadable attachment', { attachments: [5] }, null, ['other'], false],
    ['a story reply', { text: 'Nice', reply_to: { story: { id: '1' } } }, 'Nice', [], false],
    ['unsupported content', { is_unsupported: true }, null, [], true],
    ['nothing that the API can show', {}, null, [], true],
    ['an empty text', { text: '' }, null, [], true],
    [
      'a mention in a story with words',
      { text: 'Hi', ...media('story_mention') },
      'Hi',
      ['other'],
      false,
    ],
    ['a text that the wire holds as a number', { text: 60614 }, '60614', [], false],
  ])('with %s is a turn [IN7]', (...[, message, text, kinds, unsupported]) => {
    const element = only(parseItems('instagram', [messageFromLead(message)]), 'message');
    expect(element).toMatchObject({ text, unsupported });
    expect(element.media.map(({ kind }) => kind)).toEqual(kinds);
  });

  it('keeps its content stable where only the address of a picture is signed anew [IN3]', () => {
    const contents = ['https://cdn.example.test/a?s=1', 'https://cdn.example.test/a?s=2'].map(
      (url) => {
        const items = [messageFromLead(media('image', { url }))];
        return only(parseItems('page', items), 'message').stableContent;
      },
    );
    expect(contents[0]).toBe(contents[1]);
  });

  it.each([
    ['seconds', '1793633229', { at: '2026-11-02T15:27:09.000Z', precision: 'seconds' }],
    ['no time', undefined, { at: null, precision: 'none' }],
    ['an unreadable time', 'yesterday', { at: null, precision: 'none' }],
    ['a time beyond all calendars', 999999999999999, { at: null, precision: 'none' }],
  ])('with %s still waits for its answer [L2]', (_name, timestamp, source) => {
    const item = { ...messageFromLead({ text: 'Hi' }), timestamp };
    expect(only(parseItems('page', [item]), 'message').source).toEqual(source);
  });

  it.each([
    ['under changes', (value: object) => ({ changes: [{ field: 'messages', value }] })],
    ['flat in the entry', (value: object) => ({ field: 'messages', value })],
  ])('of Instagram is read %s too [IN7]', (_name, shape) => {
    const entry = [{ id: ACCOUNT, time: 7, ...shape(messageFromLead({ text: 'Hi' })) }];
    const element = only(parseMeta({ object: 'instagram', entry }), 'message');
    expect(element).toMatchObject({ eventKey: 'message:m1', text: 'Hi' });
  });
});

describe('an echo', () => {
  const echo = (message: object) =>
    fromAccount({ message: { is_echo: true, mid: 'm2', text: 'Yes.', ...message } });

  it.each([
    ['page', Number(APP_ID), 'ours'],
    ['page', APP_ID, 'ours'],
    ['page', '26390203743090', 'other'],
    ['page', undefined, 'other'],
    ['instagram', Number(APP_ID), 'ours'],
    ['instagram', '1217981644879628', 'other'],
    ['instagram', undefined, 'unknown'],
  ] as const)(
    'of a %s with app id %s is by %s and never a turn [IN7]',
    (product, appId, author) => {
      const items = [
        echo({ ...(appId === undefined ? {} : { app_id: appId }), metadata: ATTEMPT }),
      ];
      const channel = product === 'page' ? 'messenger' : 'instagram';
      expect(only(parseItems(product, items), 'echo')).toMatchObject({
        eventKey: 'echo:m2',
        providerMessageId: 'm2',
        to: [{ kind: channel, value: `${ACCOUNT}/${LEAD}` }],
        author,
        attemptRef: ATTEMPT,
        text: 'Yes.',
      });
    },
  );

  it.each([undefined, 'campaign-7', 'att_', `${ATTEMPT}0`, ATTEMPT.toUpperCase()])(
    'with the metadata %s carries no attempt of ours [IN7]',
    (metadata) => {
      expect(only(parseItems('page', [echo({ metadata })]), 'echo').attemptRef).toBeNull();
    },
  );

  it('is told by its sender where the flag is missing [IN7]', () => {
    const items = [fromAccount({ message: { mid: 'm2', text: 'Yes.' } })];
    expect(only(parseItems('page', items), 'echo').author).toBe('other');
  });

  it('whose flag is unreadable is quarantined, not taken for a lead [IN4]', () => {
    const items = [fromLead({ message: { mid: 'm2', text: 'Yes.', is_echo: 'yes' } })];
    only(parseItems('page', items), 'quarantined');
  });
});

describe('what is no turn', () => {
  const note = (kind: string) => ({ type: 'note', kind, history: null });
  it.each([
    ['a reaction', fromLead({ reaction: { mid: 'm1', action: 'react', emoji: '👍' } }), 'reaction'],
    ['a reaction taken back', fromLead({ reaction: { mid: 'm1', action: 'unreact' } }), 'reaction'],
    [
      'the business reacting',
      fromAccount({ reaction: { mid: 'm1', action: 'react' } }),
      'reaction',
    ],
    ['a story mention', messageFromLead(media('story_mention')), 'story-mention'],
    ['a test to itself', messageFromLead({ text: 'test', is_self: true }), 'self-test'],
    ['an unsent answer of the business', echoDeleted(), 'echo-deleted'],
    [
      'an edit by the business',
      fromAccount({ message_edit: { mid: 'm2', text: 'x' } }),
      'echo-edited',
    ],
    ['Get Started', fromLead({ postback: { mid: 'm1', title: 'Get Started' } }), 'postback'],
    ['a referral', fromLead({ referral: { ref: 'spring', source: 'ADS' } }), 'referral'],
    ['an opt-in', { recipient: { id: ACCOUNT }, optin: { ref: 'x' } }, 'optin'],
    ['a handed-over thread', fromLead({ pass_thread_control: {} }), 'pass_thread_control'],
    ['a linked account', fromLead({ account_linking: { status: 'linked' } }), 'account_linking'],
    ['our own read receipt', fromAccount({ read: { watermark: AT } }), 'own-receipt'],
  ])('%s is a note [IN7]', (_name, item, kind) => {
    expect(only(parseItems('instagram', [item]), 'note')).toMatchObject(note(kind));
  });

  it('a reaction has the same key however often it is delivered [IN1]', () => {
    const reaction = { mid: 'm1', action: 'react' };
    const keys = [1, 2].map((timestamp) => {
      const items = [{ ...fromLead({ reaction }), timestamp }];
      return only(parseItems('page', items), 'note').eventKey;
    });
    expect(keys).toEqual([`reaction:m1:${LEAD}:react`, `reaction:m1:${LEAD}:react`]);
  });

  it.each(['page', 'instagram'] as const)(
    'except a pressed button that asks a question, on a %s [IN7]',
    (product) => {
      const items = [fromLead({ postback: { mid: 'm1', title: 'What do you charge?' } })];
      expect(only(parseItems(product, items), 'message')).toMatchObject({
        eventKey: 'message:m1',
        text: 'What do you charge?',
      });
    },
  );

  it('gives a pressed question without an id the key of its sender and time [IN1]', () => {
    const items = [fromLead({ postback: { title: 'What do you charge?' } })];
    const { eventKey } = only(parseItems('page', items), 'message');
    expect(eventKey).toMatch(new RegExp(`^message:postback:${LEAD}:2026-11-02T15:27:09.877Z:`));
  });
});

describe('an edit or a withdrawal', () => {
  it.each([1, '1'])('with num_edit %p is an edit of the earlier message [IN7]', (count) => {
    const items = [fromLead({ message_edit: { mid: 'm1', text: 'Friday', num_edit: count } })];
    expect(only(parseItems('instagram', items), 'edit')).toMatchObject({
      eventKey: 'edit:m1:1',
      providerMessageId: 'm1',
      from: [{ kind: 'instagram', value: `${ACCOUNT}/${LEAD}` }],
      text: 'Friday',
      source: SOURCE,
    });
  });

  it('without a count is keyed by its text [IN1]', () => {
    const items = [fromLead({ message_edit: { mid: 'm1', text: 'Friday' } })];
    expect(only(parseItems('page', items), 'edit').eventKey).toMatch(/^edit:m1:[0-9a-f]{64}$/);
  });

  it('of a lead removes the message and is no turn [IN7]', () => {
    const items = [messageFromLead({ is_deleted: true })];
    expect(only(parseItems('instagram', items), 'delete')).toMatchObject({
      eventKey: 'delete:m1',
      providerMessageId: 'm1',
      text: null,
    });
  });
});

describe('a receipt', () => {
  it('gives one status for each delivered id, a broken one alone [IN7]', () => {
    const delivery = { mids: ['m2', {}, 'm3'], watermark: AT };
    const elements = parseItems('page', [fromLead({ delivery })]);
    expect(elements).toMatchObject([
      { type: 'status', eventKey: 'status:m2:delivered', providerMessageId: 'm2', watermark: null },
      { type: 'quarantined', mayBeLeadMessage: false },
      { type: 'status', eventKey: 'status:m3:delivered', status: 'delivered' },
    ]);
    expect(elements[2]?.path).toBe('entry[0].messaging[0].delivery.mids[2]');
  });

  it.each([
    ['delivered', { delivery: { watermark: AT } }],
    ['read', { read: { watermark: AT } }],
  ])('without ids says what was %s up to its millisecond [IN7]', (status, receipt) => {
    expect(only(parseItems('page', [fromLead(receipt)]), 'status')).toMatchObject({
      eventKey: `${status}:${LEAD}:2026-11-02T15:27:09.877Z`,
      providerMessageId: null,
      status,
      watermark: {
        to: [{ kind: 'messenger', value: `${ACCOUNT}/${LEAD}` }],
        upTo: '2026-11-02T15:27:09.877Z',
      },
    });
  });

  it('of Instagram names the message that was read [IN7]', () => {
    const element = only(parseItems('instagram', [fromLead({ read: { mid: 'm2' } })]), 'status');
    expect(element).toMatchObject({ providerMessageId: 'm2', status: 'read', watermark: null });
  });

  it.each([{ delivery: {} }, { read: { watermark: 'soon' } }, { read: 5 }])(
    'that says nothing readable is quarantined and nobody waits: %j [IN4]',
    (receipt) => {
      const element = only(parseItems('page', [fromLead(receipt)]), 'quarantined');
      expect(element.mayBeLeadMessage).toBe(false);
    },
  );
});

describe('standby', () => {
  it('records what a lead and another app said and owes nothing [IN7]', () => {
    const echo = { mid: 'm2', text: 'Yes.', is_echo: true };
    const items = [messageFromLead({ text: 'Hi' }), fromAccount({ message: echo })];
    const lead = [{ kind: 'messenger', value: `${ACCOUNT}/${LEAD}` }];
    expect(parseItems('page', items, 'standby')).toMatchObject([
      {
        type: 'note',
        kind: 'standby:message',
        eventKey: 'standby:message:m1',
        source: SOURCE,
        history: { providerMessageId: 'm1', direction: 'in', lead, text: 'Hi' },
      },
      {
        type: 'note',
        kind: 'standby:echo',
        history: { providerMessageId: 'm2', direction: 'out', lead, text: 'Yes.' },
      },
    ]);
  });

  it('keeps what it cannot read, and nobody waits [IN4]', () => {
    const elements = parseItems(
      'page',
      [fromLead({ wave: 1 }), fromLead({ read: { mid: 'm2' } })],
      'standby',
    );
    expect(elements).toMatchObject([
      { type: 'quarantined', mayBeLeadMessage: false },
      { type: 'note', kind: 'standby:status', history: null },
    ]);
  });
});

function media(type: string, payload: object = { url: 'https://cdn.example.test/x' }) {
  return { attachments: [{ type, payload }] };
}

function echoDeleted() {
  return fromAccount({ message: { mid: 'm2', is_echo: true, is_deleted: true } });
}
