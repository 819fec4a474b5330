import { presentConversation, previewText } from '../../../api/staff/presenting';
import type { ConversationRow } from '../../../db/queries/conversation-list';

const row: ConversationRow = {
  id: 'cnv_1',
  channel: 'sms',
  state: 'active',
  owner: 'automation',
  version: 3,
  leadName: null,
  addressKind: 'phone',
  addressValue: '+13125550142',
  owedSince: null,
  lastActivityAt: '2026-11-30T18:00:00.000000Z',
  openWorkItems: 0,
  last: null,
};
const NOW = '2026-11-30T18:00:12.345678Z';

describe('a row of the list', () => {
  it.each<[string, Partial<ConversationRow>, string]>([
    ['the name', { leadName: 'Dana Fox' }, 'Dana Fox'],
    ['the number without a name', {}, '+13125550142'],
    ['the number for a blank name', { leadName: '  ' }, '+13125550142'],
    [
      'the channel where an address says nothing',
      { channel: 'messenger', addressKind: 'messenger', addressValue: '1/2' },
      'Somebody on Messenger',
    ],
  ])('is called by %s', (_what, change, name) => {
    expect(presentConversation({ ...row, ...change }, NOW).leadName).toBe(name);
  });

  it.each([
    [null, null],
    ['2026-11-30T18:00:00.000000Z', 12_345],
    ['2026-11-30T18:05:00.000000Z', 0],
  ])(
    'with a debt since %s it owes for %s ms, never less than nothing [INV-23]',
    (owedSince, ms) => {
      expect(presentConversation({ ...row, owedSince }, NOW).owedForMs).toBe(ms);
    },
  );
});

describe('a preview', () => {
  const of = (text: string | null, media: string[] = []) =>
    previewText({ author: 'lead', text, media, deleted: false });

  it.each<[string, string | null, string[], string]>([
    ['one line', 'Hi,\n\n  my   heater leaks', [], 'Hi, my heater leaks'],
    ['media', null, ['image'], 'Photo'],
    ['blank text', '  \n ', [], 'No text'],
    ['120 code units exactly', 'x'.repeat(120), [], 'x'.repeat(120)],
    ['121 code units', 'x'.repeat(121), [], `${'x'.repeat(120)}…`],
    ['a cut before a family of four', `${'x'.repeat(115)}👨‍👩‍👧‍👦!`, [], `${'x'.repeat(115)}…`],
    [
      'a cut before a letter with its accent',
      `${'x'.repeat(119)}e\u0301!`,
      [],
      `${'x'.repeat(119)}…`,
    ],
  ])('%s', (_name, text, media, preview) => {
    expect(of(text, media)).toBe(preview);
  });

  it('a deleted message is not shown', () => {
    const deleted = { author: 'lead', text: 'secret', media: [], deleted: true } as const;
    expect(previewText(deleted)).toBe('Message deleted');
  });
});
