import { Router } from 'express';
import type { Pool } from 'pg';

export interface HealthDependencies {
  readonly pool: Pool;
  /** Asks Temporal for its health; reported apart, because intake works without it. */
  readonly pingTemporal: () => Promise<void>;
}

/** `/healthz` says that the process lives, `/readyz` that it can store what arrives. */
export function makeHealthRouter({ pool, pingTemporal }: HealthDependencies): Router {
  const router = Router();
  router.get('/healthz', (_request, response) => {
    response.json({ status: 'alive' });
  });
  router.get('/readyz', async (_request, response) => {
    const [postgres, temporal] = await Promise.all([
      works(() => pool.query('select 1')),
      works(pingTemporal),
    ]);
    response.status(postgres ? 200 : 503).json({ postgres, temporal });
  });
  return router;
}

async function works(probe: () => Promise<unknown>): Promise<boolean> {
  try {
    await probe();
    return true;
  } catch {
    // The answer itself tells that the probe failed; whoever asks decides what it means.
    return false;
  }
}
