import { NOW, type Scope } from './check';

/** How far back the audit of every minute looks; a whole pass follows every few hours. */
const RECENT = `interval '2 hours'`;

const everything = (): string => 'true';

/** The audits of the product: what was touched lately, and all of it. */
export type AuditScope = 'recent' | 'full';

const stillSince = (column: string, seconds: number): string =>
  `${column} < ${NOW} - interval '${seconds} seconds'`;

const touched = (column: string) => (outer: string) =>
  `${outer} in (select ${column} from conversations where touched_at > ${NOW} - ${RECENT})`;

export const SCOPES: Readonly<Record<AuditScope, Scope>> = {
  recent: {
    among: touched('id'),
    leads: touched('lead_id'),
    addresses: touched('address_id'),
    since: (column) => `${column} > ${NOW} - ${RECENT}`,
    rests: stillSince,
  },
  full: {
    among: everything,
    leads: everything,
    addresses: everything,
    since: everything,
    rests: stillSince,
  },
};

/** All of a database in which nothing is under way: what is at rest needs no grace. */
export const AT_REST: Scope = { ...SCOPES.full, rests: everything };
