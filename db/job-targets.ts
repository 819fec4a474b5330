import { INTEGRATION_KINDS } from '../domain/jobs';

const kinds = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(', ');

/**
 * The integrations `i` that a job `j` writes to. The operators' own audit export takes the records
 * of every business; contacts go to the CRM of their own business only.
 */
export const JOB_TARGETS = `
  ((j.operation = 'crm-upsert' and i.kind in (${kinds(INTEGRATION_KINDS['crm-upsert'])})
      and i.business_id = j.business_id)
    or (j.operation = 'audit-export' and i.kind in (${kinds(INTEGRATION_KINDS['audit-export'])})
      and (i.business_id = j.business_id or i.business_id is null)))`;
