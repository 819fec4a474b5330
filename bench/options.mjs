/** Reads what `npm run bench` was asked for. */
import { parseArgs } from 'node:util';
import { Refusal } from '../dev/machine.mjs';

export const TARGETS = ['floor', 'graphile', 'ours'];
const PARTS = ['load', 'kill', 'conversations'];
const SHORT_PARTS = ['load', 'conversations'];

export const USAGE = `npm run bench -- [options]
  --seconds N        seconds of load for each rate and target (30)
  --rates 1,5,10,20  leads a second
  --targets LIST     of ${TARGETS.join(', ')}
  --parts LIST       of ${PARTS.join(', ')}
  --kills N          how often a worker is killed (2)
  --seed N           of the arrival times (1)
  --echoes           the provider sends an echo of each message back, as Messenger does
  --short            about a minute, for tests: 2 and 5 leads a second, no kills; the exit
                     code is 0 only if every lead was answered
  --json FILE        writes all figures to a file
  --strict           a missed goal makes the exit code 1`;

function list(text, known, name) {
  const values = text.split(',').filter(Boolean);
  const unknown = values.find((value) => !known.includes(value));
  if (unknown === undefined) return known.filter((value) => values.includes(value));
  throw new Refusal(`--${name} knows no "${unknown}"; it knows ${known.join(', ')}.`);
}

function positive(text, name) {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new Refusal(`--${name} must be a number above zero, not "${text}".`);
}

function parse(args) {
  try {
    return parseArgs({
      args,
      options: {
        seconds: { type: 'string' },
        rates: { type: 'string' },
        targets: { type: 'string', default: TARGETS.join(',') },
        parts: { type: 'string' },
        kills: { type: 'string' },
        seed: { type: 'string', default: '1' },
        echoes: { type: 'boolean', default: false },
        short: { type: 'boolean', default: false },
        json: { type: 'string' },
        strict: { type: 'boolean', default: false },
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
  const { short } = given;
  return {
    ...given,
    seconds: positive(given.seconds ?? (short ? '5' : '30'), 'seconds'),
    rates: (given.rates ?? (short ? '2,5' : '1,5,10,20'))
      .split(',')
      .map((rate) => positive(rate, 'rates')),
    targets: list(given.targets, TARGETS, 'targets'),
    parts: list(given.parts ?? (short ? SHORT_PARTS : PARTS).join(','), PARTS, 'parts'),
    kills: positive(given.kills ?? '2', 'kills'),
    seed: positive(given.seed, 'seed'),
    warmUpSeconds: short ? 1 : 3,
  };
}
