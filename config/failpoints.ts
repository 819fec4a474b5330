import { writeSync } from 'node:fs';

/**
 * The closed list of points at which a test may pause, throw or kill (style.md, A4): before and
 * after every effect outside the process and every commit. `npm run chaos` and the process tier
 * end a real process at each of them.
 */
export const FAILPOINTS = [
  // Intake, in the api.
  'webhook:received',
  'ingest:receipts',
  'ingest:written',
  'webhook:stored',
  'webhook:answered',
  'wake:asked',
  'wake:accepted',
  // A turn, in the worker of the conversations.
  'turn:begun',
  'turn:drafted',
  'turn:committed',
  // A send.
  'deliver:claimed',
  'deliver:permitted',
  'deliver:calling',
  'deliver:accepted',
  'deliver:marked',
  'deliver:recorded',
  'deliver:refused',
  'deliver:refusal-recorded',
  'deliver:unknown',
  'deliver:unknown-recorded',
  // What became of an attempt that nobody recorded.
  'resolve:taken',
  'resolve:read-back',
  'resolve:proven',
  'resolve:reviewed',
  'record:taken',
  'record:recorded',
  // What falls due without a message.
  'expire:ended',
  'expire:committed',
  'follow-up:written',
  'follow-up:committed',
  'escalate:raised',
  'escalate:committed',
  // The loops over Postgres, in the upkeep worker and the api.
  'relay:taken',
  'relay:woken',
  'relay:noted',
  'sweep:taken',
  'sweep:acted',
  'sweep:woken',
  'notice:written',
  'notice:claimed',
  'notice:sent',
  'notice:ended',
  // Delivery jobs, in the upkeep worker.
  'job:starting',
  'job:started',
  'job:begun',
  'job:called',
  'job:ended',
  // A command of staff, in the api.
  'command:received',
  'command:committed',
] as const;
export type Failpoint = (typeof FAILPOINTS)[number];

/** Says that a named point was reached; `ref` is the id that the work there is about. */
export type Reach = (point: Failpoint, ref: string) => Promise<void> | void;

interface Armed {
  readonly action: 'kill' | 'throw';
  /** How many more times the point is reached until the action. */
  left: number;
}

/**
 * Failpoints for tests with real processes: `UNSILENT_FAILPOINT=deliver:accepted=kill` ends the
 * process with SIGKILL the first time that it reaches that point, `=kill@3` the third time, and
 * `=throw` throws there once; several are separated by commas. Throws where the text names no
 * point. Refused in production by the configuration.
 */
export function makeFailpoints(text: string | undefined): (point: Failpoint) => void {
  if (text === undefined || text === '') return () => undefined;
  const armed = new Map(text.split(',').map(parse));
  return (point) => {
    const here = armed.get(point);
    if (here === undefined) return;
    here.left -= 1;
    if (here.left > 0) return;
    armed.delete(point);
    writeSync(process.stderr.fd, `failpoint ${point} reached\n`);
    if (here.action === 'kill') process.kill(process.pid, 'SIGKILL');
    throw new Error(`failpoint ${point}`);
  };
}

function parse(text: string): readonly [Failpoint, Armed] {
  const match = /^([\w:-]+)=(kill|throw)(?:@([1-9]\d*))?$/.exec(text.trim());
  const point = FAILPOINTS.find((known) => known === match?.[1]);
  if (match === null || point === undefined) {
    throw new Error(`UNSILENT_FAILPOINT names no failpoint: ${text}`);
  }
  return [point, { action: match[2] === 'kill' ? 'kill' : 'throw', left: Number(match[3] ?? '1') }];
}
