import type { Pool } from 'pg';
import type { Config } from '../config/env';
import type { Logger } from '../config/logger';
import { openPool } from './database';
import { roleUrl, type Role } from './migrate';

/** Opens a pool for one of the roles; the product never connects as the owner (design.md). */
export function openRolePool(
  config: Config,
  log: Logger,
  options: {
    readonly role: Role;
    readonly name: string;
    readonly max: number;
    readonly statementTimeoutMs?: number;
    readonly lockTimeoutMs?: number;
  },
): Pool {
  const { role, name, ...limits } = options;
  return openPool({
    connectionString: roleUrl(config.DATABASE_URL, role, config.DATABASE_ROLE_PASSWORD),
    applicationName: `unsilent-${name}`,
    onError: (error) => {
      log.warn({ pool: name, error }, 'an idle database connection ended');
    },
    ...limits,
  });
}
