import { parseArgs } from 'node:util';
import { Refusal } from '../../dev/machine.mjs';

export const USAGE = `npm run mutants -- [options]

Breaks the product on purpose, one change at a time, in a copy of the working tree, and runs the
tests that should notice. A mutant that no test kills fails the run.

  --only TEXT   only mutants whose name contains TEXT
  --short       only those that npm test runs too
  --list        names the mutants and runs nothing
  --help        this text`;

/** Reads the command line. Throws a `Refusal` with the way out. */
export function readOptions(args) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        only: { type: 'string' },
        short: { type: 'boolean', default: false },
        list: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    return values;
  } catch (error) {
    throw new Refusal(`${error.message}\n\n${USAGE}`);
  }
}
