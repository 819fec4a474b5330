/** BENCH-A and BENCH-B: events and billable actions of two whole conversations. */
import { join } from 'node:path';
import { findTestServer } from '../dev/tools.mjs';
import { DIST, asRole } from './environment.mjs';

export async function measureConversations({ environment }, progress) {
  progress('two whole conversations in the time-skipping server');
  const url = asRole(environment.databases.bench_conversations, 'unsilent_service');
  const program = await environment.helper('conversations', {
    BENCH_DATABASE_URL: url,
    BENCH_WORKFLOW_BUNDLE: join(DIST, 'workflow-bundle.js'),
    UNSILENT_TEMPORAL_TEST_SERVER: await findTestServer(),
    TWILIO_API_URL: `${environment.origin}/twilio`,
  });
  const result = await program.ask('run');
  await program.stop();
  return result;
}
