import type { EscalationQueue } from '../../domain/escalation';
import type { NoticeKind, NoticeLine } from '../../domain/notices';

/** One notice on its way over one integration: ids, kinds, counts and times, nothing personal. */
export interface OutgoingNotice {
  /** The same for every try, so that the receiver recognises a repeated one. */
  readonly noticeId: string;
  readonly businessId: string | null;
  readonly queue: EscalationQueue;
  readonly createdAt: string;
  readonly lines: readonly NoticeLine[];
  /** Where the console stands. */
  readonly consoleUrl: string;
}

/** Where an integration wants its notices, as it is stored. */
export interface NoticeTarget {
  readonly settings: unknown;
  readonly secret: string | null;
}

/**
 * A transport ends a try within this time, whatever the other side does, and nothing of it leaves
 * afterwards. The lease of a delivery is longer.
 */
export const NOTICE_SEND_DEADLINE_MS = 30_000;

/** What is known after one try; the words are those of a send's outcome (providers.md 0.2). */
export type NoticeOutcome =
  | { readonly kind: 'accepted' }
  | {
      readonly kind: 'not-accepted';
      readonly code: string;
      readonly retry: 'back-off' | 'never';
      readonly retryAfterMs: number | null;
      /** The credentials are refused: this integration alone is paused (IN4). */
      readonly pausesAccount: boolean;
    }
  /** The installation's own login was refused, which says nothing about the integration. */
  | { readonly kind: 'login-refused'; readonly code: string }
  | { readonly kind: 'unknown'; readonly code: string };

/** Carries a notice once and never throws: every ending is an outcome. */
export type NoticeTransport = (
  notice: OutgoingNotice,
  target: NoticeTarget,
) => Promise<NoticeOutcome>;

export type NoticeTransports = Readonly<Record<NoticeKind, NoticeTransport>>;

/** A try that another one like it could not better. */
export function neverAccepted(code: string): NoticeOutcome {
  return { kind: 'not-accepted', code, retry: 'never', retryAfterMs: null, pausesAccount: false };
}
