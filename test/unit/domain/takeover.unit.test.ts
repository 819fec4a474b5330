import {
  forbiddenAttribute,
  mayFollowTheEnd,
  replayTakeover,
  SequenceGapError,
  TAKEOVER_EVENT_TYPES,
  TAKEOVER_REASONS,
  type TakeoverEvent,
  type TakeoverEventType,
} from '../../../domain/takeover';

const AGENT = { kind: 'company_role', ref: 'support-agent' } as const;

function log(...types: readonly TakeoverEventType[]): TakeoverEvent[] {
  return types.map((type, index) => ({
    eventId: `tke_${index + 1}`,
    seq: index + 1,
    type,
    actor: AGENT,
    reason: 'operator_claimed',
    contentRef: null,
  }));
}

describe('the replay of a takeover session', () => {
  it.each([
    [['session.started'], 'automated', null],
    [['session.started', 'takeover.requested'], 'automated', null],
    [['session.started', 'takeover.requested', 'takeover.claimed'], 'human', 'support-agent'],
    [['session.started', 'takeover.claimed', 'takeover.released'], 'automated', null],
    [['session.started', 'takeover.claimed', 'automation.resumed'], 'automated', null],
    [['session.started', 'takeover.claimed', 'session.ended'], 'ended', null],
    [['session.started', 'session.ended', 'content.redacted'], 'ended', null],
    [['session.started', 'session.ended', 'decision.annotated'], 'ended', null],
  ] as const)('%j leaves it %s [H4]', (types, mode, ownerRole) => {
    expect(replayTakeover(log(...types))).toMatchObject({ mode, ownerRole, lastSeq: types.length });
  });

  it('goes by the sequence, whatever the order in which the events are read [H4]', () => {
    const events = log(
      'session.started',
      'takeover.claimed',
      'takeover.released',
      'takeover.claimed',
    );
    expect(replayTakeover([...events].reverse())).toEqual(replayTakeover(events));
  });

  it('gives the same state on every replay [H4]', () => {
    const events = log('session.started', 'takeover.claimed', 'session.ended');
    const states = Array.from({ length: 5 }, () => replayTakeover(events));
    expect(new Set(states.map((state) => JSON.stringify(state))).size).toBe(1);
  });

  it('throws SEQUENCE_GAP where event 8 is missing [H4] [H6]', () => {
    const events = log(...Array.from({ length: 9 }, () => 'decision.annotated' as const));
    const holed = events.filter((event) => event.seq !== 8);
    expect(() => replayTakeover(holed)).toThrow(SequenceGapError);
    expect(() => replayTakeover(holed)).toThrow('SEQUENCE_GAP expected=8 met=9');
  });

  it('throws SEQUENCE_GAP where an event stands twice [H4]', () => {
    const events = log('session.started', 'takeover.claimed');
    expect(() => replayTakeover([...events, ...events])).toThrow('SEQUENCE_GAP');
  });

  it('remembers what was redacted, also after the end [H4] [H5]', () => {
    const events = log('session.started', 'session.ended', 'content.redacted');
    const redacted = events.map((event) =>
      event.seq === 3 ? { ...event, contentRef: 'msg_1' } : event,
    );
    expect([...replayTakeover(redacted).redactedRefs]).toEqual(['msg_1']);
  });
});

describe('the contract of the takeover log', () => {
  it('is the closed set of types [H1]', () => {
    expect([...TAKEOVER_EVENT_TYPES].sort()).toEqual(
      [
        ...['session.started', 'takeover.requested', 'takeover.claimed', 'takeover.released'],
        ...['automation.resumed', 'session.ended', 'content.redacted', 'decision.annotated'],
      ].sort(),
    );
  });

  it('is the closed set of reasons [H1]', () => {
    expect([...TAKEOVER_REASONS].sort()).toEqual(
      [
        ...['caller_requested_human', 'low_model_confidence', 'policy_requires_human'],
        ...['operator_claimed', 'operator_unavailable', 'connection_lost', 'session_completed'],
        ...['reply_overdue', 'replays_exhausted', 'sent_not_recorded', 'delivery_unknown'],
        ...['quote_requires_human', 'draft_expired', 'lead_requested_human'],
      ].sort(),
    );
  });

  it('lets only erasures and annotations follow the end [H1]', () => {
    expect(TAKEOVER_EVENT_TYPES.filter(mayFollowTheEnd)).toEqual([
      'content.redacted',
      'decision.annotated',
    ]);
  });

  it.each([
    { phone: '+13125550123' },
    { email: 'a@example.com' },
    { transcript: 'hello' },
    { note: 'call back' },
    { accessToken: 'abc' },
    { audioUrl: 'x' },
    { payload: '{}' },
    { prompt: 'x' },
    { leadName: 'Ann' },
    { ref: '+13125550123' },
    { ref: '3125550123' },
    { ref: '312-555-0123' },
    { ref: '1.312.555.0123' },
    { ref: 3_125_550_123 },
    { ref: 'ann@example.com' },
    { ref: 'the lead wants a call' },
  ])('refuses %j at the boundary [H5]', (attributes) => {
    expect(forbiddenAttribute(attributes)).not.toBeNull();
  });

  it('refuses a value longer than any list of ids [H5]', () => {
    expect(forbiddenAttribute({ ref: 'a'.repeat(401) })).not.toBeNull();
  });

  it.each([
    {},
    { confidenceBucket: 'below_0_55', attempt: 1 },
    { inFlightSends: 'snd_019ad3aab3ac7abcb000000000000001,snd_019ad3aab3ac7abcb000000000000002' },
    { rungs: 'too_old,replays_exhausted', automatic: true },
    { at: '2026-11-30T18:00:00.000Z', waitedMs: 86_400_000 },
  ])('takes %j [H5]', (attributes) => {
    expect(forbiddenAttribute(attributes)).toBeNull();
  });
});
