import { ensurePostgres } from './environment.mjs';

export default ensurePostgres;
