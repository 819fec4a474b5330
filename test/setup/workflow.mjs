import { ensurePostgres, ensureTemporalPrograms, ensureWorkflowBundle } from './environment.mjs';

export default async function setUp() {
  await ensurePostgres();
  await ensureTemporalPrograms();
  await ensureWorkflowBundle();
}
