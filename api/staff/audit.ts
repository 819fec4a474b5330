import { z } from 'zod';
import { readAuditResults } from '../../db/audit/results';
import { readStaffClock } from '../../db/queries/staff-reading';
import { defineEndpoint } from './endpoint';
import type { Reading } from './reads';

const instant = z.iso.datetime();

const checkSchema = z
  .object({
    invariant: z.string().meta({ description: 'As docs/invariants.md and docs/spec.md name it.' }),
    says: z.string().meta({ description: 'The sentence that must hold.' }),
    violations: z.number().int().meta({ description: 'How many rows break it, of any business.' }),
    checkedAt: instant,
    fullyCheckedAt: instant
      .nullable()
      .meta({ description: 'The last audit of everything, not only of what was touched lately.' }),
    rows: z
      .array(z.string())
      .meta({ description: 'Ids of the rows of your business that break it; at most a few.' }),
  })
  .meta({ id: 'AuditCheck' });

export const auditReportSchema = z
  .object({ now: instant, items: z.array(checkSchema) })
  .meta({ id: 'AuditReport' });

export const readAuditEndpoint = defineEndpoint({
  method: 'get',
  path: '/audit',
  operationId: 'readAudit',
  summary: 'What the auditor last said of every invariant',
  description:
    'The auditor looks every minute at what was touched lately and every six hours at everything. Broken ones come first.',
  query: z.strictObject({}),
  answer: auditReportSchema,
  problems: { 400: 'invalid_request' },
});

/** `GET /audit`: counts are of the whole installation, ids only of the caller's business. */
export async function auditReport({
  client,
  businessId,
}: Reading): Promise<z.input<typeof auditReportSchema>> {
  const [{ now }, results] = await Promise.all([
    readStaffClock(client),
    readAuditResults(client, businessId),
  ]);
  const items = results
    .map((result) => ({ ...result, rows: [...result.rows] }))
    .sort((a, b) => rankOf(a) - rankOf(b) || inOrder(a, b));
  return { now, items };
}

type Item = z.input<typeof checkSchema>;

function rankOf({ violations }: Item): number {
  return violations > 0 ? 0 : 1;
}

/** INV-2 before INV-10, and the invariants before the requirements. */
function inOrder(a: Item, b: Item): number {
  const group = Number(b.invariant.startsWith('INV-')) - Number(a.invariant.startsWith('INV-'));
  const byName = a.invariant.localeCompare(b.invariant, 'en', { numeric: true });
  return group || byName || a.says.localeCompare(b.says, 'en');
}
