import type { PostSigned } from '../../channels/port';
import { noticeWebhookSettings } from '../../domain/notices';
import { neverAccepted, type NoticeTransport } from './port';

const TIMEOUT_MS = 10_000;

/**
 * Carries notices as signed webhooks (https://www.standardwebhooks.com). The webhook's id is the
 * notice's, so the receiver drops a repeated one.
 */
export function makeWebhookNotices(postSigned: PostSigned): NoticeTransport {
  return (notice, { settings, secret }) => {
    const parsed = noticeWebhookSettings.safeParse(settings);
    if (!parsed.success || secret === null) {
      return Promise.resolve(neverAccepted('settings-unusable'));
    }
    const { noticeId, businessId, queue, createdAt, lines, consoleUrl } = notice;
    return postSigned({
      url: parsed.data.url,
      secret,
      id: noticeId,
      body: {
        type: 'notice.created',
        timestamp: createdAt,
        data: { noticeId, businessId, queue, items: lines, consoleUrl },
      },
      timeoutMs: TIMEOUT_MS,
    });
  };
}
