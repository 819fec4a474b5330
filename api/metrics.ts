import { Router } from 'express';
import type { Pool } from 'pg';
import { Gauge, Registry } from 'prom-client';
import { readCountedFigures } from '../db/figure-rollups';
import { readLabelledFigures, readOperatingFigures, type Figures } from '../db/figures';
import { histogramsText, registerFamilies, type Figure } from './metrics-families';

/** Scrapes that come closer together than this get the same answer: they must stay cheap. */
const CACHE_MS = 5_000;

export interface MetricsDependencies {
  readonly pool: Pool;
  /** For tests with a clock of their own; the database's otherwise. */
  readonly now?: () => Promise<string | null>;
  readonly cacheMs?: number;
}

interface PlainGauge {
  readonly name: string;
  readonly help: string;
  readonly valueOf: (figures: Figures) => number;
}

const PLAIN: readonly PlainGauge[] = [
  {
    name: 'unsilent_oldest_owed_reply_age_seconds',
    help: 'Age of the oldest owed reply that is overdue; 0 when nothing is owed.',
    valueOf: (figures) => figures.oldestOwedAgeSeconds,
  },
  {
    name: 'unsilent_oldest_waiting_for_person_age_seconds',
    help: 'Age of the oldest open work item; 0 when none is open.',
    valueOf: (figures) => figures.oldestWaitingSeconds,
  },
  {
    name: 'unsilent_owed_replies',
    help: 'Conversations that owe a reply.',
    valueOf: (figures) => figures.owedReplies,
  },
  {
    name: 'unsilent_owed_replies_waiting',
    help: 'Of them, those whose answer waits for the clock of a rule.',
    valueOf: (figures) => figures.owedWaiting,
  },
  {
    name: 'unsilent_delivery_unknown',
    help: 'Sends whose outcome is unknown.',
    valueOf: (figures) => figures.deliveryUnknown,
  },
  {
    name: 'unsilent_escalations_open',
    help: 'Open work items.',
    valueOf: (figures) => figures.openItems,
  },
  {
    name: 'unsilent_paused_accounts',
    help: 'Accounts whose credentials the provider refuses.',
    valueOf: (figures) => figures.pausedAccounts,
  },
  {
    name: 'unsilent_paused_integrations',
    help: 'Integrations whose credentials are refused.',
    valueOf: (figures) => figures.pausedIntegrations,
  },
  {
    name: 'unsilent_audit_age_seconds',
    help: 'Age of the oldest check of the running audit; +Inf before the first.',
    valueOf: (figures) => figures.auditAgeSeconds ?? Infinity,
  },
];

interface Readings {
  readonly figures: Figures;
  readonly labelled: readonly Figure[];
}

/**
 * `/metrics`: Prometheus text from Postgres alone, so that it speaks when all else is down (T9,
 * C9). It fails with the database: then the series are missing, which is an alarm of its own.
 */
export function makeMetricsRouter(dependencies: MetricsDependencies): Router {
  const registry = new Registry();
  const families = registerFamilies(registry);
  const gauges = PLAIN.map(({ name, help, valueOf }) => ({
    gauge: new Gauge({ name, help, registers: [registry] }),
    valueOf,
  }));
  const text = cached(async () => {
    const { figures, labelled } = await readAll(dependencies);
    for (const { gauge, valueOf } of gauges) gauge.set(valueOf(figures));
    families.take(labelled);
    return `${await registry.metrics()}\n${histogramsText(labelled)}`;
  }, dependencies.cacheMs ?? CACHE_MS);
  const router = Router();
  router.get('/metrics', async (_request, response) => {
    response.type(registry.contentType).send(await text());
  });
  return router;
}

async function readAll({ pool, now }: MetricsDependencies): Promise<Readings> {
  const at = now === undefined ? null : await now();
  const [figures, ...labelled] = await Promise.all([
    readOperatingFigures(pool, at),
    readLabelledFigures(pool),
    readCountedFigures(pool),
  ]);
  return { figures, labelled: labelled.flat() };
}

/** Reads again when the last reading is older than `forMs`; callers at once share one. */
function cached<Result>(read: () => Promise<Result>, forMs: number): () => Promise<Result> {
  let last: { readonly atMs: number; readonly result: Promise<Result> } | null = null;
  return () => {
    const nowMs = performance.now();
    if (last !== null && nowMs - last.atMs < forMs) return last.result;
    const result = read();
    last = { atMs: nowMs, result };
    result.catch(() => {
      // The caller answers the failure; the next scrape asks again.
      if (last?.result === result) last = null;
    });
    return result;
  };
}
