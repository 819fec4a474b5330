import {
  noticeEmailSettings,
  noticeWebhookSettings,
  noticeWords,
  type NoticeLine,
} from '../../../domain/notices';
import { WORK_ITEM_KINDS } from '../../../domain/work-items';

const AT = '2026-11-30T18:05:09.123Z';
const line = (change: Partial<NoticeLine> = {}): NoticeLine => ({
  kind: 'handoff',
  count: 1,
  oldestAt: AT,
  ...change,
});

describe('the words of a notice', () => {
  it.each([
    [[line()], 'Unsilent: 1 conversation waits for a person'],
    [[line({ count: 100 })], 'Unsilent: 100 conversations wait for a person'],
    [[line({ kind: 'approval', count: 2 })], 'Unsilent: 2 drafts wait for approval'],
    [[line(), line({ kind: 'credentials', count: 2 })], 'Unsilent: 3 things wait for a person'],
  ])('say what kind and how many [C7]', (lines, subject) => {
    expect(noticeWords(lines, 'https://desk.example/').subject).toBe(subject);
  });

  it('say since when, by UTC, and where to look [C7]', () => {
    expect(noticeWords([line({ count: 3 })], 'https://desk.example/').text).toBe(
      '- 3 conversations wait for a person, since 2026-11-30 18:05 UTC\n\nhttps://desk.example/\n',
    );
  });

  it('exist for every kind of item [C7]', () => {
    for (const kind of WORK_ITEM_KINDS) {
      expect(noticeWords([line({ kind })], '').text).toMatch(/^- 1 \w+/);
    }
  });
});

describe('the settings of an integration for notices', () => {
  it.each([
    ['one recipient', { to: ['desk@example.com'] }, true],
    ['recipients of some queues', { to: ['a@example.com'], queues: ['shift-lead'] }, true],
    ['no recipient', { to: [] }, false],
    ['what is no address', { to: ['desk'] }, false],
    ['an unknown queue', { to: ['a@example.com'], queues: ['cellar'] }, false],
    ['null for the queues, which means all', { to: ['a@example.com'], queues: null }, true],
    ['no queue at all', { to: ['a@example.com'], queues: [] }, false],
  ])('by e-mail with %s: usable is %s', (_name, settings, usable) => {
    expect(noticeEmailSettings.safeParse(settings).success).toBe(usable);
  });

  it.each([
    ['https', { url: 'https://hooks.example/notices' }, true],
    ['http, for an endpoint in the same network', { url: 'http://127.0.0.1:9/x' }, true],
    ['another protocol', { url: 'file:///etc/passwd' }, false],
    ['what is no URL', { url: 'hooks' }, false],
  ])('by webhook over %s: usable is %s', (_name, settings, usable) => {
    expect(noticeWebhookSettings.safeParse(settings).success).toBe(usable);
  });
});
