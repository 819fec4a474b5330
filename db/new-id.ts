import { uuidv7 } from 'uuidv7';
import type { Id } from '../domain/ids';

/** Makes a new id of the kind `prefix`; ids made later sort later. */
export function newId<Prefix extends string>(prefix: Prefix): Id<Prefix> {
  return `${prefix}_${uuidv7().replaceAll('-', '')}`;
}
