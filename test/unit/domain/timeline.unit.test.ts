import type {
  MessageFact,
  TakeoverFact,
  TimelineFacts,
  TransitionFact,
  WorkItemFact,
} from '../../../domain/timeline-facts';
import {
  at,
  decision,
  lines,
  message,
  outcome,
  plan,
  send,
  takeover,
  tell,
  trace,
  transition,
  workItem,
} from './timeline-facts';

describe('what a message says and how it came', () => {
  it.each<[string, Partial<MessageFact>, string, string]>([
    ['text', {}, 'My water heater leaks', 'quiet: Received over SMS. It asks for an answer.'],
    [
      'media',
      { text: null, media: ['image', 'audio'] },
      'Photo, Voice message',
      'quiet: Received over SMS. It asks for an answer.',
    ],
    [
      'media of a new kind',
      { text: null, media: ['hologram'] },
      'Attachment',
      'quiet: Received over SMS. It asks for an answer.',
    ],
    [
      'what the channel hides',
      { text: null, unsupported: true },
      'Something that this channel cannot show.',
      'quiet: Received over SMS. It asks for an answer.',
    ],
    [
      'a deleted one',
      { text: null, deletedAt: at(9) },
      'The lead deleted this message.',
      'quiet: Received over SMS. It asks for an answer.',
    ],
    [
      'a late one',
      { sourceAt: at(-300) },
      'My water heater leaks',
      'warning: Received over SMS 5 min after it was written. It asks for an answer.',
    ],
    [
      'one that owes nothing',
      { owes: false },
      'My water heater leaks',
      'quiet: Received over SMS.',
    ],
    [
      'a stop',
      { text: 'STOP', optOut: 'stop' },
      'STOP',
      'info: Received over SMS. The lead asks for no more messages.',
    ],
    [
      'a stop that the provider confirms',
      { text: 'STOP', optOut: 'stop_confirmed_by_provider' },
      'STOP',
      'info: Received over SMS. The lead asks for no more messages; the provider confirms that itself.',
    ],
  ])('%s', (_name, change, text, line) => {
    const facts = { messages: [{ ...message, ...change }] };
    expect(tell(facts)[0]).toMatchObject({ id: 'msg_1', kind: 'message', text });
    expect(lines(facts)).toEqual([line]);
  });

  it.each([
    ['accepted', 'sent'],
    ['delivered', 'delivered'],
    ['failed', 'failed'],
    ['delivery_unknown', 'unknown'],
  ])('our own message of a send that is %s is shown as %s [S5]', (state, delivery) => {
    const own: MessageFact = {
      ...message,
      direction: 'out',
      author: 'automation',
      sendId: 'snd_1',
    };
    const [bubble] = tell({ messages: [own], sends: [{ ...send, state }] });
    expect(bubble?.message).toMatchObject({ direction: 'out', author: 'automation', delivery });
  });
});

describe('how an owed message ended', () => {
  it.each<[MessageFact['settlement'], string | null, string[]]>([
    ['reply', 'answer', []],
    ['no-answer', 'thanks', ['info: No answer is needed: it only says thanks.']],
    ['no-answer', 'new_reason', ['info: No answer is needed: the reason is “new reason”.']],
    ['person', 'answered_in_provider_app', ['quiet: A person answered; nothing is owed any more.']],
    ['work-item', 'person_owns', ['quiet: The answer is now with a person.']],
  ])('%s because of %s', (settlement, settlementReason, expected) => {
    const settled = {
      ...message,
      settlement,
      settlementReason,
      settlementRef: 'x',
      settledAt: at(5),
    };
    const both = [settled, { ...settled, id: 'msg_2', seq: 2 }];
    expect(lines({ messages: both }).filter((line) => !line.includes('Received'))).toEqual(
      expected,
    );
  });
});

describe('why the state moved [S1]', () => {
  it.each<[Partial<TransitionFact>, string]>([
    [{}, 'info: The lead replied, so follow-ups stop. The state is now “Replied”.'],
    [
      { changed: false, toState: 'booked' },
      'quiet: The lead replied, so follow-ups stop. The state stays “Booked”.',
    ],
    [
      { fromState: 'paused', toState: 'paused' },
      'quiet: The lead replied, so follow-ups stop. The state stays “Paused”.',
    ],
    [
      { cause: 'lead_opted_out', toState: 'opted_out' },
      'info: The lead opted out, so nothing automatic is sent any more. The state is now “Opted out”.',
    ],
    [
      { cause: 'handover', toState: 'paused' },
      'info: Automation waits until a person has looked at it. The state is now “Paused”.',
    ],
    [
      { cause: 'some_new-cause', toState: 'closed' },
      'info: The cause is “some new cause”. The state is now “Closed”.',
    ],
    [
      { cause: 'constructor', toState: '__proto__' },
      'info: The cause is “constructor”. The state is now “proto”.',
    ],
  ])('%j', (change, line) => {
    expect(lines({ transitions: [{ ...transition, ...change }] })).toEqual([line]);
  });
});

describe('who holds the conversation [INV-15]', () => {
  it.each<[Partial<WorkItemFact>, string[]]>([
    [{}, ['warning: Needs a person: The lead asked to talk to a person.']],
    [{ kind: 'delivery-unknown' }, ['bad: Needs a person: The lead asked to talk to a person.']],
    [
      { resolvedAt: at(60), resolvedBy: 'support-agent', resolution: 'answered_in_provider_app' },
      [
        'warning: Needs a person: The lead asked to talk to a person.',
        "good: A support agent settled this: answered in the provider's own app.",
      ],
    ],
    [
      { resolvedAt: at(60), resolvedBy: 'conversation-router', resolution: 'proven_by_status' },
      [
        'warning: Needs a person: The lead asked to talk to a person.',
        "good: Automation settled this: the provider's report proves that it was sent.",
      ],
    ],
  ])('a work item %j', (change, expected) => {
    expect(lines({ workItems: [{ ...workItem, ...change }] })).toEqual(expected);
  });

  it.each<[Partial<TakeoverFact>, string]>([
    [{}, 'info: A support agent took over.'],
    [
      {
        type: 'takeover.requested',
        actorRef: 'conversation-router',
        reason: 'lead_requested_human',
      },
      'info: Automation asked for a person: the lead asked for a person.',
    ],
    [
      { type: 'takeover.released', actorRef: 'shift-supervisor' },
      'info: A shift supervisor gave the conversation back to automation.',
    ],
    [
      { type: 'session.started', actorRef: 'conversation-router' },
      'quiet: From here on the takeover log records who holds the conversation.',
    ],
  ])('an event %j', (change, line) => {
    expect(lines({ takeovers: [{ ...takeover, ...change }] })).toEqual([line]);
  });
});

describe('the follow-ups [S6]', () => {
  it('planned ones stand at the end with their due instants, marked as upcoming', () => {
    const entries = tell({ plans: [plan] });
    expect(entries.map(({ id, upcoming }) => [id, upcoming])).toEqual([
      ['pln_1:planned', false],
      ['pln_1:step:1', true],
      ['pln_1:step:2', true],
      ['pln_1:step:3', true],
    ]);
    expect(entries[0]?.text).toBe(
      'Follow-ups are planned for day 1, 3, 7, until the lead replies.',
    );
    expect(entries[3]?.at).toBe(at(7 * 86_400));
  });

  it('a stopped plan has none left and says why', () => {
    const stopped = { ...plan, stoppedAt: at(60), stopReason: 'lead_replied' };
    expect(lines({ plans: [stopped] })[1]).toBe('info: No more follow-ups: the lead replied.');
    expect(tell({ plans: [stopped] }).some((entry) => entry.upcoming)).toBe(false);
  });
});

describe('the order of the story', () => {
  const own: MessageFact = {
    ...message,
    id: 'msg_2',
    seq: 2,
    direction: 'out',
    author: 'automation',
    sendId: 'snd_1',
  };
  const facts: Partial<TimelineFacts> = {
    messages: [message, own],
    sends: [send],
    decisions: [decision],
    attempts: [{ id: 'att_1', sendId: 'snd_1', number: 1, startedAt: at(0) }],
    outcomes: [{ ...outcome, recordedAt: at(0) }],
    traces: [{ ...trace, providerAcknowledgedAt: at(0) }],
    plans: [plan],
  };

  it('facts of one instant stand with the cause before its consequence', () => {
    expect(tell(facts).map((entry) => entry.id)).toEqual([
      'msg_1',
      'msg_1:received',
      'dec_1',
      'att_1',
      'msg_2',
      'att_1:1',
      'snd_1:latency',
      'pln_1:planned',
      'pln_1:step:1',
      'pln_1:step:2',
      'pln_1:step:3',
    ]);
  });

  it('does not depend on the order in which facts were read, and ids are unique', () => {
    const reversed = Object.fromEntries(
      Object.entries(facts).map(([key, value]) => [
        key,
        Array.isArray(value) ? [...value].reverse() : value,
      ]),
    );
    expect(tell(reversed)).toEqual(tell(facts));
    const ids = tell(facts).map((entry) => entry.id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
