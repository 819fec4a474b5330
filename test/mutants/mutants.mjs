/**
 * Ways to break the product (LV-15). Each names the one text that it changes, and the test files
 * whose promises must notice, or with `title` those of its tests that have it in their name. `short`
 * ones run in `npm test` too.
 */
import { DESK } from './list/desk.mjs';
import { ENGINE } from './list/engine.mjs';
import { INTAKE } from './list/intake.mjs';
import { LOOPS } from './list/loops.mjs';
import { SENDING } from './list/sending.mjs';
import { TABLES } from './list/tables.mjs';

export const MUTANTS = [...TABLES, ...INTAKE, ...SENDING, ...ENGINE, ...LOOPS, ...DESK];
