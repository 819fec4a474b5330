import { build } from '../../dev/build.mjs';
import { ensurePostgres, ensureTemporalPrograms, makeDurable } from './environment.mjs';

export default async function setUp() {
  await build({ web: false });
  await ensurePostgres();
  await makeDurable();
  await ensureTemporalPrograms();
}
