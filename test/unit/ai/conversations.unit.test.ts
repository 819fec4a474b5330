import { draft } from '../../../ai/draft';
import { topicOf } from '../../../ai/questions';
import { understand } from '../../../ai/understand';
import { guardDraft } from '../../../domain/amounts';
import { CONVERSATIONS } from '../../fixtures/conversations';

describe('labelled conversations', () => {
  it('the corpus holds at least 80 conversations', () => {
    expect(CONVERSATIONS.length).toBeGreaterThanOrEqual(80);
  });

  it.each(CONVERSATIONS)('is understood as labelled: $title [P2]', (conversation) => {
    const understood = understand(conversation.thread, conversation.profile);
    expect(understood).toMatchObject(conversation.understanding);
  });

  it.each(CONVERSATIONS)('is answered as labelled: $title [P3, L5]', (conversation) => {
    const { thread, profile, draft: expected } = conversation;
    const drafted = draft(thread, understand(thread, profile), profile);
    const { kind, reason, verdict } = expected;
    expect(drafted).toMatchObject({
      kind,
      ...(reason === undefined ? {} : { reason }),
      ...(verdict === undefined ? {} : { verdict }),
    });
    const text = drafted.kind === 'reply' ? drafted.text : '';
    if (expected.asks !== undefined) expect(topicOf(text)).toBe(expected.asks);
    for (const part of expected.contains ?? []) expect(text).toContain(part);
    for (const part of expected.excludes ?? []) expect(text).not.toContain(part);
  });

  const replies = CONVERSATIONS.flatMap(({ title, thread, profile }) => {
    const drafted = draft(thread, understand(thread, profile), profile);
    return drafted.kind === 'reply' ? [{ title, thread, text: drafted.text }] : [];
  });

  it.each(replies)('asks once, briefly and promises nothing: $title [L5, P4b]', (reply) => {
    expect(reply.text.split('?')).toHaveLength(2);
    expect(reply.text.length).toBeLessThanOrEqual(320);
    expect(guardDraft(reply.text)).toBe('ok');
    const said = reply.thread.filter(({ from }) => from === 'business').map(({ text }) => text);
    expect(said).not.toContain(reply.text);
  });
});
