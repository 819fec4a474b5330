import type { Pool } from 'pg';
import type { RawRequest, WebhookEndpoint } from '../../channels/port';
import type { Reach } from '../../config/failpoints';
import { sha256 } from '../../db/digest';
import { CommitUnknownError, StatementError } from '../../db/errors';
import { ingest } from '../../db/ingest/ingest';
import type { IngestRequest, IngestResult } from '../../db/ingest/request';
import { newId } from '../../db/new-id';
import type { InboundElement } from '../../domain/inbound';
import { prepareElement, type IsOpener } from './prepare';

export interface ReceiveDependencies {
  readonly pool: Pool;
  readonly isOpener: IsOpener;
  /** Says that a named point was reached; in production nobody listens. */
  readonly reach: Reach;
  readonly log: {
    info(fields: Readonly<Record<string, unknown>>, message: string): void;
    warn(fields: Readonly<Record<string, unknown>>, message: string): void;
    error(fields: Readonly<Record<string, unknown>>, message: string): void;
  };
}

export interface Arrival {
  readonly request: RawRequest;
  readonly endpoint: WebhookEndpoint;
  readonly acceptedAt: string;
  readonly acceptedMonotonicMs: number;
}

/**
 * Reads and stores one authentic request. Where the elements cannot be stored although Postgres is
 * well, the bytes alone are, as one quarantined element: a lead never waits behind our own bug.
 * Throws where nothing could be stored; the caller answers 503.
 */
export async function receive(
  dependencies: ReceiveDependencies,
  arrival: Arrival,
): Promise<IngestResult> {
  const { request, endpoint } = arrival;
  const elements = endpoint.parse(request);
  try {
    return await store(dependencies, arrival, elements);
  } catch (error) {
    if (isTransient(error)) throw error;
    dependencies.log.error({ error }, 'an authentic webhook could not be stored in parts');
    return store(dependencies, arrival, [wholeBody(request)]);
  }
}

/** Postgres may take the same request a moment later, so the provider should bring it again. */
function isTransient(error: unknown): boolean {
  if (error instanceof CommitUnknownError) return true;
  if (!(error instanceof StatementError)) return false;
  // These classes speak of the data; the same data would fail again.
  return !['21', '22', '23', '54'].includes(error.sqlState.slice(0, 2));
}

async function store(
  dependencies: ReceiveDependencies,
  arrival: Arrival,
  elements: readonly InboundElement[],
): Promise<IngestResult> {
  const { request, endpoint } = arrival;
  const prepared = elements.map((element) => prepareElement(element, dependencies.isOpener));
  const contentType = request.headers['content-type'];
  const ingestRequest: IngestRequest = {
    raw: {
      id: newId('raw'),
      provider: endpoint.provider,
      target: request.target.split('?')[0] ?? '',
      contentType: typeof contentType === 'string' ? contentType.slice(0, 100) : null,
      body: request.body,
      bodySha256: sha256(request.body),
    },
    elements: prepared,
    ingress: {
      acceptedAt: arrival.acceptedAt,
      normalizedAt: new Date().toISOString(),
      normalizeMs: Math.round(performance.now() - arrival.acceptedMonotonicMs),
    },
  };
  const { pool, reach } = dependencies;
  await reach('webhook:received', ingestRequest.raw.id);
  const result = await ingest(pool, ingestRequest, null, reach);
  await reach('webhook:stored', ingestRequest.raw.id);
  if (result.duplicates > 0) {
    // A repeat makes a record of its own, marked, and no sample (L1).
    const { duplicates } = result;
    const record = { trace_id: ingestRequest.raw.id, source: endpoint.provider, duplicate: true };
    dependencies.log.info({ ...record, elements: duplicates }, 'latency');
  }
  if (result.conflicts.length > 0) {
    dependencies.log.error(
      { rawId: ingestRequest.raw.id, conflicts: result.conflicts },
      'one event id came with two contents',
    );
  }
  if (result.quarantined > 0) {
    const { quarantined } = result;
    dependencies.log.warn(
      { rawId: ingestRequest.raw.id, quarantined },
      'elements were quarantined',
    );
  }
  return result;
}

function wholeBody({ body }: RawRequest): InboundElement {
  const digest = sha256(body);
  return {
    type: 'quarantined',
    path: '$',
    channel: 'messenger',
    accountExternalId: '',
    eventKey: `unstorable:${digest}`,
    stableContent: digest,
    source: { at: null, precision: 'none' },
    reason: 'could_not_be_stored_in_parts',
    mayBeLeadMessage: true,
  };
}
