import { AsyncLocalStorage } from 'node:async_hooks';
import type { DeliverResult } from '../../../activities/contract';
import type { Failpoint } from '../../../config/failpoints';
import type { Agenda } from '../../../domain/agenda';

/** Between these points lies one effect of the model's activities each. */
const STOPS: readonly Failpoint[] = [
  ...(['turn:begun', 'deliver:claimed', 'deliver:permitted', 'deliver:calling'] as const),
  ...(['deliver:accepted', 'deliver:refused', 'deliver:unknown', 'deliver:marked'] as const),
  ...(['resolve:taken', 'resolve:read-back'] as const),
];

const flows = new AsyncLocalStorage<Flow>();

/** The `reach` of the dependencies: holds the activity that came to a stop. */
export function holdAtStops(point: Failpoint): Promise<void> | void {
  if (STOPS.includes(point)) return flows.getStore()?.hold(point);
}

type Halt =
  | { readonly kind: 'held'; readonly point: Failpoint }
  | { readonly kind: 'ended'; readonly agenda: Agenda };

/** One activity on the real database, which goes on effect by effect. */
export class Flow {
  private letGo: (() => void) | null = null;
  private giveUp: (() => void) | null = null;
  private halted: (halt: Halt) => void = () => undefined;
  private readonly ended: Promise<Halt>;

  constructor(activity: () => Promise<Agenda | DeliverResult>) {
    const ran = flows.run(this, activity);
    this.ended = ran.then((result) => ({ kind: 'ended', agenda: agendaOf(result) }));
    this.ended.catch(() => undefined);
  }

  /** Goes on to the next stop, or to the end. */
  async advance(): Promise<Halt> {
    const held = new Promise<Halt>((resolve) => {
      this.halted = resolve;
    });
    this.letGo?.();
    this.letGo = null;
    return Promise.race([held, this.ended]);
  }

  hold(point: Failpoint): Promise<void> {
    return new Promise((resolve, reject) => {
      this.letGo = resolve;
      this.giveUp = () => reject(new Error('the worker is gone'));
      this.halted({ kind: 'held', point });
    });
  }

  /** Ends what nobody goes on with, so that nothing is left running. */
  async abandon(): Promise<void> {
    if (this.letGo !== null) this.giveUp?.();
    await this.ended.catch(() => undefined);
  }
}

function agendaOf(result: Agenda | DeliverResult): Agenda {
  if (!('kind' in result)) return result;
  if (result.kind === 'unrecorded') throw new Error('Postgres was up and recorded nothing');
  return result.agenda;
}
