/** Reads what `npm run chaos` was asked for. */
import { parseArgs } from 'node:util';
import { Refusal } from '../../dev/machine.mjs';

export const USAGE = `npm run chaos -- [options]
  --kills N      how many processes are killed (30)
  --minutes N    ends after so many minutes even with fewer kills
  --seed N       of all decisions: who is killed where, who writes what (1)
  --rate N       messages of leads a second, on average (1.5)
  --every N      seconds from one kill to the next, on average (8)
  --points       instead: every named failpoint once, no random kills, no faults
  --point LIST   as --points, only these
  --no-faults    the providers misbehave never
  --keep         keeps the folder of the logs even where all is well
  --no-build     dist/ is up to date
  --json FILE    writes the result to a file`;

function positive(text, name) {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new Refusal(`--${name} must be a number above zero, not "${text}".`);
}

function parse(args) {
  try {
    return parseArgs({
      args,
      allowNegative: true,
      options: {
        kills: { type: 'string', default: '30' },
        minutes: { type: 'string' },
        seed: { type: 'string', default: '1' },
        rate: { type: 'string' },
        every: { type: 'string', default: '8' },
        points: { type: 'boolean', default: false },
        point: { type: 'string' },
        faults: { type: 'boolean', default: true },
        keep: { type: 'boolean', default: false },
        build: { type: 'boolean', default: true },
        json: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new Refusal(`${error.message}\n\n${USAGE}`);
  }
}

/** The options of a run; refuses with one sentence what it does not understand. */
export function readOptions(args) {
  const given = parse(args);
  const points = given.points || given.point !== undefined;
  return {
    ...given,
    points,
    only: given.point?.split(',').filter(Boolean) ?? null,
    kills: positive(given.kills, 'kills'),
    minutes: given.minutes === undefined ? Infinity : positive(given.minutes, 'minutes'),
    seed: positive(given.seed, 'seed'),
    rate: positive(given.rate ?? (points ? '0.5' : '1.5'), 'rate'),
    everyMs: positive(given.every, 'every') * 1000,
    faults: given.faults && !points,
  };
}
