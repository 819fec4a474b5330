import { failures, judge, type Evidence, type StoredMessage } from '../../chaos/judge';

const ATTEMPT = `att_${'1'.repeat(32)}`;
const NOW = 1_000_000;

const message = {
  channel: 'sms',
  lead: 'Robin',
  providerMessageId: 'SM1',
  text: 'My sink leaks',
  writtenAtMs: NOW,
  deliveredAtMs: NOW + 100,
  asks: true,
};
const send = {
  channel: 'sms',
  lead: 'Robin',
  text: 'Thanks. What is your ZIP code?',
  providerMessageId: 'SM2',
  correlation: `https://app.example/status?attempt=${ATTEMPT}`,
  acceptedAtMs: NOW + 900,
};
const stored: StoredMessage = {
  providerMessageId: 'SM1',
  conversationId: 'cnv_1',
  owes: true,
  settlement: 'reply',
  settlementRef: 'snd_1',
  settlementReason: 'answer',
};
const attempt = {
  attemptId: ATTEMPT,
  sendId: 'snd_1',
  conversationId: 'cnv_1',
  state: 'accepted',
  providerMessageIds: [],
};
const evidence: Evidence = {
  written: [message],
  ledger: [send],
  stored: [stored],
  attempts: [attempt],
  deliveredBodies: ['digest'],
  rawRows: new Map([['digest', 1]]),
  disturbances: [],
  provoked: new Map(),
  backedOff: new Set(),
};

const handedOver: StoredMessage = {
  ...stored,
  settlement: 'work-item',
  settlementRef: 'wrk_1',
  settlementReason: 'reply_overdue',
};
const kill = { atMs: NOW, what: 'the kill of api', channel: null };

describe('the verdict of a chaos run', () => {
  it('an answer that the provider has counts, with its time from the 200 [INV-6]', () => {
    const verdict = judge(evidence);
    expect(verdict).toMatchObject({ answered: 1, delivered: 1, latenciesMs: [800] });
    expect(failures(verdict)).toEqual([]);
  });

  it.each<[string, Partial<Evidence>]>([
    ['has no row', { stored: [] }],
    ['is still owed', { stored: [{ ...stored, settlement: null, settlementRef: null }] }],
    ['owes nothing although it asks', { stored: [{ ...stored, owes: false }] }],
    ['is settled by a reply that no provider accepted', { ledger: [] }],
  ])('a delivered message is lost where it %s [INV-1] [INV-6]', (_why, change) => {
    const verdict = judge({ ...evidence, ...change });
    expect(verdict.lost).toHaveLength(1);
    expect(failures(verdict)).toContain('lost 1');
  });

  it('what no provider delivered is not lost', () => {
    const undelivered = { ...message, deliveredAtMs: null };
    const verdict = judge({ ...evidence, written: [undelivered], stored: [], ledger: [] });
    expect(verdict).toMatchObject({ lost: [], neverDelivered: 1 });
  });

  it.each<[string, Evidence['ledger'][number]]>([
    ['one logical send twice', { ...send, providerMessageId: 'SM3', acceptedAtMs: NOW + 950 }],
    [
      'one text twice with nothing written between',
      { ...send, correlation: null, providerMessageId: 'SM3', acceptedAtMs: NOW + 950 },
    ],
  ])('the ledger shows what reached a lead double: %s [INV-10]', (_what, second) => {
    const verdict = judge({ ...evidence, ledger: [send, second] });
    expect(verdict.doubled).toHaveLength(1);
    expect(failures(verdict)).toContain('doubled 1');
  });

  it('the same text to a newer message is no double [INV-10]', () => {
    const newer = { ...message, providerMessageId: 'SM9', writtenAtMs: NOW + 920 };
    const second = {
      ...send,
      correlation: null,
      providerMessageId: 'SM3',
      acceptedAtMs: NOW + 950,
    };
    const rows = [stored, { ...stored, providerMessageId: 'SM9' }];
    const more = { written: [message, newer], ledger: [send, second], stored: rows };
    expect(judge({ ...evidence, ...more }).doubled).toEqual([]);
  });

  it('a delivered body without a raw row of its own breaks INV-1 [INV-1]', () => {
    const verdict = judge({ ...evidence, deliveredBodies: ['digest', 'digest'] });
    expect(failures(verdict)).toEqual([expect.stringContaining('INV-1')]);
  });

  it('what is handed over needs a fault that explains it [INV-6]', () => {
    const without = judge({ ...evidence, stored: [handedOver] });
    expect(failures(without)).toContain('1 are explained by nothing');
    const explained = judge({ ...evidence, stored: [handedOver], disturbances: [kill] });
    expect(explained.handedOver[0]?.what).toContain('the kill of api');
    expect(failures(explained)).toEqual([]);
  });

  it.each([
    [10_000, 0, []],
    [10_001, 1, []],
    [300_001, 1, ['1 were more than five minutes late']],
  ])('accepted %d ms after the 200 it is late: %d', (latencyMs, late, problems) => {
    const slow = { ...send, acceptedAtMs: message.deliveredAtMs + latencyMs };
    const verdict = judge({ ...evidence, ledger: [slow] });
    expect(verdict.late).toHaveLength(late);
    expect(failures(verdict)).toEqual(problems);
  });

  it('waiting because the provider asked for it is not late [T5]', () => {
    const slow = { ...send, acceptedAtMs: NOW + 70_000 };
    const verdict = judge({ ...evidence, ledger: [slow], backedOff: new Set(['snd_1']) });
    expect(verdict).toMatchObject({ late: [], waited: [{ lead: 'Robin' }] });
  });
});
