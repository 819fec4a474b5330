import { makeHttpClient } from '../../channels/http';
import { makePostSigned } from '../../channels/signed-webhook';
import { makeMailNotices, type MailOptions } from './email';
import type { NoticeTransports } from './port';
import { makeWebhookNotices } from './webhook';

/** The transports of a process, with the connections that they keep. */
export interface OpenTransports {
  readonly transports: NoticeTransports;
  close(): Promise<void>;
}

/** Opens the transports that carry notices: mail by SMTP, and signed webhooks. */
export function openNoticeTransports(
  config: { readonly SMTP_URL?: string | undefined; readonly NOTICE_FROM?: string | undefined },
  log: MailOptions['log'],
): OpenTransports {
  const mail = makeMailNotices({ smtpUrl: config.SMTP_URL, from: config.NOTICE_FROM, log });
  const http = makeHttpClient();
  return {
    transports: {
      'notice-email': mail.send,
      'notice-webhook': makeWebhookNotices(makePostSigned(http)),
    },
    close: async () => {
      mail.close();
      await http.close();
    },
  };
}
