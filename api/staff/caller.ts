import type { Request } from 'express';
import type { Pool } from 'pg';
import { findStaffToken } from '../../db/queries/staff-tokens';
import { ProblemError } from '../problem';

const ROLES = ['agent', 'manager', 'owner'] as const;

/** For whom a request acts: a business and a role in it, never a person (H1). */
export interface Caller {
  readonly businessId: string;
  readonly role: (typeof ROLES)[number];
}

const BEARER = /^Bearer ([\x21-\x7e]{1,512})$/i;

/** Reads the bearer token and looks up whose it is. Throws the 401 problem. */
export async function authenticate(tokenPool: Pool, request: Request): Promise<Caller> {
  const token = BEARER.exec(request.get('authorization') ?? '')?.[1];
  const found = token === undefined ? null : await findStaffToken(tokenPool, token);
  if (found === null) {
    throw new ProblemError({
      status: 401,
      code: 'unauthenticated',
      title: 'Sign in first',
      detail: 'Send "Authorization: Bearer" with a valid staff token.',
    });
  }
  const role = ROLES.find((known) => known === found.role);
  if (role === undefined) throw new Error('a staff token has a role that does not exist');
  return { businessId: found.businessId, role };
}
