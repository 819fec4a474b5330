import { sql } from 'drizzle-orm';
import {
  check,
  doublePrecision,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
} from 'drizzle-orm/pg-core';
import { instant } from './columns';

/** What the last audit of a scope said of each check; a check's sentence names it. */
export const auditResults = pgTable(
  'audit_results',
  {
    says: text('says').notNull(),
    /** The audit of what was touched lately, or of everything. */
    scope: text('scope').notNull(),
    invariant: text('invariant').notNull(),
    violations: integer('violations').notNull(),
    tookMs: integer('took_ms').notNull(),
    checkedAt: instant('checked_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.says, t.scope] }),
    check('audit_results_scope', sql`scope in ('recent', 'full')`),
  ],
);

/** The rows that broke a check in the last audit of a scope; ids only, and not more than a few. */
export const auditFindings = pgTable(
  'audit_findings',
  {
    says: text('says').notNull(),
    scope: text('scope').notNull(),
    rowId: text('row_id').notNull(),
    /** Null where the row belongs to no business, such as a raw request. */
    businessId: text('business_id'),
    /** When an audit first said so; it stays until one does not. */
    foundAt: instant('found_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.says, t.scope, t.rowId] }),
    index('audit_findings_business').on(t.businessId),
  ],
);

/**
 * Append-only: what the counters of `/metrics` had counted between the rollup before and `through`.
 * A counter is the sum of its rollups and of what came since, so it never falls when retention
 * deletes what was counted, and a scrape reads two days.
 */
export const figureRollups = pgTable(
  'figure_rollups',
  {
    through: instant('through').notNull(),
    name: text('name').notNull(),
    /** The labels as canonical JSON. */
    labels: text('labels').notNull(),
    value: doublePrecision('value').notNull(),
  },
  (t) => [primaryKey({ columns: [t.through, t.name, t.labels] })],
);
