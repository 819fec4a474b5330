import { createTransport } from 'nodemailer';
import { noticeEmailSettings, noticeWords } from '../../domain/notices';
import {
  neverAccepted,
  NOTICE_SEND_DEADLINE_MS,
  type NoticeOutcome,
  type NoticeTransport,
} from './port';

/** The part of a log that the transport uses. */
interface NoticeLog {
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
}

export interface MailOptions {
  /** `smtp://` or `smtps://` with user and password; undefined where no mail can be sent. */
  readonly smtpUrl: string | undefined;
  readonly from: string | undefined;
  readonly log: NoticeLog;
  /** How long one mail may take from the first packet to the server's answer. */
  readonly deadlineMs?: number;
}

export interface MailNotices {
  readonly send: NoticeTransport;
  close(): void;
}

/** Nothing waits longer for a server that went silent; one that dawdles meets the deadline. */
const CONNECT_TIMEOUT_MS = 5_000;
const SILENCE_TIMEOUT_MS = 10_000;

/**
 * Carries notices by SMTP, one connection each and no retries of the library's own. The Message-ID
 * is made from the notice's id, so that a repeated mail is recognisable as the same one. Without a
 * server the transport is off and says so once.
 */
export function makeMailNotices({
  smtpUrl,
  from,
  log,
  deadlineMs = NOTICE_SEND_DEADLINE_MS,
}: MailOptions): MailNotices {
  if (smtpUrl === undefined || from === undefined) {
    log.warn({}, 'notices by e-mail are off: SMTP_URL is not set');
    return { send: () => Promise.resolve(neverAccepted('smtp-off')), close: () => undefined };
  }
  const mailer = createTransport({
    url: smtpUrl,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SILENCE_TIMEOUT_MS,
    // What the deadline ends is destroyed at once: no byte of it leaves later.
    socketCloseTimeout: 0,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    send: async (notice, { settings }) => {
      const parsed = noticeEmailSettings.safeParse(settings);
      if (!parsed.success) return neverAccepted('settings-unusable');
      const { subject, text } = noticeWords(notice.lines, notice.consoleUrl);
      try {
        const { rejected } = await mailer.sendMail({
          from,
          to: parsed.data.to,
          subject,
          text,
          messageId: `<${notice.noticeId}@${hostOf(from)}>`,
          date: new Date(notice.createdAt),
          // RFC 3834: nobody's out-of-office answers a notice.
          headers: { 'Auto-Submitted': 'auto-generated' },
          signal: AbortSignal.timeout(deadlineMs),
        });
        // The others have it; a second try would tell them twice.
        if (rejected.length > 0) {
          const about = { noticeId: notice.noticeId, refused: rejected.length };
          log.warn(about, 'a mail server refused some recipients of a notice');
        }
        return { kind: 'accepted' };
      } catch (error) {
        return outcomeOfFailure(error);
      }
    },
    close: () => {
      mailer.close();
    },
  };
}

function hostOf(from: string): string {
  return /@([^\s>]+)>?\s*$/.exec(from)?.[1] ?? 'localhost';
}

/** What nodemailer says of a failure: `code`, the server's `responseCode`, and the `command`. */
interface SmtpFailure {
  readonly code?: unknown;
  readonly responseCode?: unknown;
  readonly command?: unknown;
}

/** A login that is refused for good is the installation's matter; one refused for now comes back. */
function outcomeOfFailure(error: unknown): NoticeOutcome {
  const failure: SmtpFailure = typeof error === 'object' && error !== null ? error : {};
  const { code, responseCode } = failure;
  const answer = typeof responseCode === 'number' && responseCode >= 400 ? responseCode : null;
  if (code === 'EAUTH' && (answer === null || answer >= 500)) {
    return { kind: 'login-refused', code: `smtp-${answer ?? 'eauth'}` };
  }
  return answer === null ? outcomeWithoutAnswer(failure) : outcomeOfAnswer(answer);
}

/** A server's own answer: 4yz back off, 5yz final (RFC 5321 4.2.1). */
function outcomeOfAnswer(answer: number): NoticeOutcome {
  const code = `smtp-${answer}`;
  return answer < 500 ? backOff(code) : neverAccepted(code);
}

/** Only what failed before the mail's text is surely not sent; the deadline may end it anywhere. */
function outcomeWithoutAnswer({ code, command }: SmtpFailure): NoticeOutcome {
  if (code === 'EABORT') return { kind: 'unknown', code: 'smtp-deadline' };
  const word = `smtp-${typeof code === 'string' ? code.toLowerCase() : 'failed'}`;
  const sent = command === 'DATA' || command === 'API';
  return sent ? { kind: 'unknown', code: word } : backOff(word);
}

function backOff(code: string): NoticeOutcome {
  const later = { retry: 'back-off', retryAfterMs: null, pausesAccount: false } as const;
  return { kind: 'not-accepted', code, ...later };
}
