import { Webhook } from 'standardwebhooks';
import { makeAppendAudit } from '../../../activities/audit-file';
import type { JobActivities, JobEnd } from '../../../activities/contract';
import { makeJobActivities } from '../../../activities/delivery-job';
import { makeHttpClient, type HttpClient } from '../../../channels/http';
import { makePostSigned } from '../../../channels/signed-webhook';
import { newId } from '../../../db/new-id';
import { DEMO_BUSINESS } from '../../../dev/demo';
import type { RunOperation } from '../../../domain/jobs';
import type { World } from '../../support/world';
import { startStandIn, type SeenRequest, type StandIn } from '../../unit/channels/support';

const SECRET = `whsec_${Buffer.from('a secret of twenty-four bytes').toString('base64')}`;

/** The customer's endpoint: it checks signatures and drops an id that it has seen, as it should. */
export interface Receiver {
  readonly url: string;
  /** What it took, once per id. */
  readonly taken: Map<string, unknown>;
  /** Every request, repeats included. */
  readonly seen: readonly SeenRequest[];
  /** How the next requests are answered; the default takes them. */
  answer: StandIn['answer'];
  /** Takes a request as the default answer does, without answering it. */
  take(request: SeenRequest): void;
  close(): Promise<void>;
}

/** Starts a receiver on a free local port. */
export async function startReceiver(): Promise<Receiver> {
  const standIn = await startStandIn();
  const taken = new Map<string, unknown>();
  const take = ({ headers, body }: SeenRequest): void => {
    const named: Record<string, string> = {};
    for (const [name, value] of Object.entries(headers)) named[name] = String(value);
    const content = new Webhook(SECRET).verify(body, named);
    const id = String(headers['webhook-id']);
    if (!taken.has(id)) taken.set(id, content);
  };
  const receiver: Receiver = {
    url: standIn.url,
    taken,
    seen: standIn.seen,
    take,
    answer: (response, request) => {
      take(request);
      response.writeHead(204).end();
    },
    close: () => standIn.close(),
  };
  standIn.answer = (response, request) => {
    receiver.answer(response, request);
  };
  return receiver;
}

/** Connects an integration of the demo business, or of the operators. */
export async function connect(
  world: World,
  kind: string,
  settings: object,
  businessId: string | null = DEMO_BUSINESS.id,
): Promise<string> {
  const id = newId('int');
  await world.rows(
    `insert into integrations (id, business_id, kind, settings, secret, created_at)
     values ($1, $2, $3, $4, $5, $6)`,
    [id, businessId, kind, JSON.stringify(settings), SECRET, world.clock.iso],
  );
  return id;
}

/** The job's activity over the world's database and clock, and a real HTTP client. */
export function jobActivities(
  world: World,
  http: HttpClient,
  directory: string | null = null,
): JobActivities {
  return makeJobActivities({
    pool: world.database.service,
    clock: world.dependencies.clock,
    log: world.dependencies.log,
    post: makePostSigned(http),
    append: makeAppendAudit(directory),
  });
}

export { makeHttpClient };

/** The id of the job of an operation; of the first version, unless told otherwise. */
export async function jobOf(world: World, operation: RunOperation, version = 1): Promise<string> {
  const [row] = await world.rows(`select id from delivery_jobs where job_key like $1`, [
    `%:${operation}:v${version}`,
  ]);
  return String(row?.['id']);
}

/** What a job's row says. */
export async function jobRow(world: World, jobId: string): Promise<Record<string, unknown>> {
  const [row] = await world.rows(
    `select state, attempts, last_error_code as code, ended_at is not null as ended
     from delivery_jobs where id = $1`,
    [jobId],
  );
  return row ?? {};
}

/** Runs one attempt; a failed one comes back as what Temporal would wait for. */
export async function attempt(
  activities: JobActivities,
  jobId: string,
  operation: RunOperation = 'crm-upsert',
): Promise<JobEnd | { readonly state: 'retry'; readonly delayMs: number }> {
  try {
    return await activities.runJob({ jobId, operation });
  } catch (error) {
    const delay =
      error instanceof Error && 'nextRetryDelay' in error ? error.nextRetryDelay : undefined;
    if (typeof delay !== 'number') throw error;
    return { state: 'retry', delayMs: delay };
  }
}
