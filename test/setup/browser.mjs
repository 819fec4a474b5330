import { build } from '../../dev/build.mjs';
import { ensurePostgres, ensureTemporalPrograms, findChromium } from './environment.mjs';

export default async function setUp() {
  findChromium();
  if (!process.env.UNSILENT_CHROMIUM) return;
  await build();
  await ensurePostgres();
  await ensureTemporalPrograms();
}
