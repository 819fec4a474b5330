import type { BusinessProfile } from '../domain/understanding';
import { draft } from './draft';
import { understand } from './understand';

/** The deterministic engine: the default, and what answers when a model is late (P2, P4). */
export const engine = { understand, draft };

const NO_CATALOGUE: BusinessProfile = { name: '', timeZone: 'UTC', services: [] };

/** Says whether a text only opens a conversation ("Hi", "are you open?"): spec P4b case 2. */
export function isOpener(text: string): boolean {
  const message = { seq: 1, from: 'lead', text, hasMedia: false, unsupported: false } as const;
  return understand([message], NO_CATALOGUE).bareOpener;
}
