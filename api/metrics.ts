import { Router } from 'express';
import type { Pool } from 'pg';
import { Gauge, Registry } from 'prom-client';
import { countEndedSends, readOperatingFigures } from '../db/figures';

/** `/metrics`: Prometheus text from Postgres alone, so that it speaks when all else is down (T9). */
export function makeMetricsRouter({ pool }: { readonly pool: Pool }): Router {
  const registry = new Registry();
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const oldestOwed = gauge(
    'unsilent_oldest_owed_reply_age_seconds',
    'Age of the oldest owed reply; 0 when nothing is owed.',
  );
  const oldestWaiting = gauge(
    'unsilent_oldest_waiting_for_person_age_seconds',
    'Age of the oldest open work item; 0 when none is open.',
  );
  const owed = gauge('unsilent_owed_replies', 'Conversations that owe a reply.');
  const unknown = gauge('unsilent_delivery_unknown', 'Sends whose outcome is unknown.');
  const open = gauge('unsilent_escalations_open', 'Open work items.');
  const sends = gauge('unsilent_sends_total', 'Ended sends.', ['channel', 'outcome']);
  const router = Router();
  router.get('/metrics', async (_request, response) => {
    const [figures, ended] = await Promise.all([readOperatingFigures(pool), countEndedSends(pool)]);
    oldestOwed.set(figures.oldestOwedAgeSeconds);
    oldestWaiting.set(figures.oldestWaitingSeconds);
    owed.set(figures.owedReplies);
    unknown.set(figures.deliveryUnknown);
    open.set(figures.openItems);
    sends.reset();
    for (const { channel, outcome, count } of ended) sends.set({ channel, outcome }, count);
    response.type(registry.contentType).send(await registry.metrics());
  });
  return router;
}
