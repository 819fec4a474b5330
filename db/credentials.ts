import type { PoolClient } from 'pg';
import { openWorkItem, resolveWorkItemsOfSubject } from './work-items';

/** Credentials that somebody refuses. */
export interface RefusedCredentials {
  /** Null where they are the installation's own. */
  readonly businessId: string | null;
  /** The account or integration that they belong to. */
  readonly subjectId: string;
  readonly code: string;
  /** One plain sentence: who refuses what, and what waits for it. */
  readonly explanation: string;
  readonly at: string;
}

/** Shows an operator that credentials are refused (IN4): one open item per subject. */
export async function reportRefusedCredentials(
  client: PoolClient,
  { code, ...refused }: RefusedCredentials,
): Promise<void> {
  await openWorkItem(client, {
    ...refused,
    conversationId: null,
    kind: 'credentials',
    reason: code,
  });
}

/** The credentials work again: the item about them closes, where one is open (IN4). */
export async function closeRefusedCredentials(
  client: PoolClient,
  subjectId: string,
  mended: { readonly by: string; readonly at: string },
): Promise<void> {
  const resolution = 'credentials_mended';
  await resolveWorkItemsOfSubject(client, subjectId, {
    ...mended,
    kind: 'credentials',
    resolution,
  });
}
