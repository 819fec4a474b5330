import type { InboundElement, Provider } from '../../domain/inbound';
import type { RawDeliveryId } from '../../domain/ids';
import type { WakeTarget } from '../due';

/** One element, made ready outside the transaction: digests, cleaned text, opt-out words (S2). */
export interface PreparedElement {
  readonly element: InboundElement;
  readonly keySha256: string;
  readonly contentSha256: string;
  /** The provider's flag, else our own words; null for anything but a message. */
  readonly optOut: 'stop' | 'start' | 'help' | null;
  /** P4b case 2: a bare opener, or media without text; its turn waits a moment. */
  readonly mayWait: boolean;
}

/** One authentic request, ready to be stored. */
export interface IngestRequest {
  readonly raw: {
    readonly id: RawDeliveryId;
    readonly provider: Provider;
    readonly target: string;
    readonly contentType: string | null;
    readonly body: Buffer;
    readonly bodySha256: string;
  };
  readonly elements: readonly PreparedElement[];
  /** Transport stamps (C1): wall clock to correlate, `normalizeMs` from the monotonic clock. */
  readonly ingress: {
    readonly acceptedAt: string;
    readonly normalizedAt: string;
    readonly normalizeMs: number;
  };
}

/** One event id with two contents: the digest of the one that stands and of the one that came. */
export interface ContentConflict {
  readonly receiptId: string;
  readonly keptSha256: string;
  readonly cameSha256: string;
}

export interface IngestResult {
  readonly stored: number;
  readonly duplicates: number;
  readonly quarantined: number;
  /** An alert each, not a second insert (IN3). */
  readonly conflicts: readonly ContentConflict[];
  /** Conversations whose facts changed; each gets a wake-up after the commit. */
  readonly wake: readonly WakeTarget[];
}
