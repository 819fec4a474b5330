import type { DeliveryStatus } from '../../../domain/delivery-status';
import type { LeadText } from '../model/facts';
import type { StaffCommand } from '../model/staff';

/**
 * What happens to a transaction: Postgres refuses it, or its COMMIT's answer is lost after it
 * committed (`kept`) or before (`lost`).
 */
export type TransactionFault = 'refused' | 'kept' | 'lost';

/** What the provider does with a call, and what the worker hears of it. */
export type ProviderAnswer =
  | 'accept'
  | 'accept-unheard'
  | 'unheard'
  | 'rate-limit'
  | 'upstream-error'
  | 'refuse'
  | 'credentials'
  | 'opted-out';

/** What a read-back shows: the truth, a list that lags behind, or nothing. */
export type ReadBackAnswer = 'truth' | 'lagging' | 'unavailable';

/** One effect of a conversation's run, or of a worker that woke up too late. */
export interface Effect {
  readonly fault?: TransactionFault;
  readonly answer?: ProviderAnswer;
  readonly readBack?: ReadBackAnswer;
}

/**
 * One step of a simulation, as plain words: what is drawn, recorded, reduced and replayed. A step
 * that cannot happen in the state it meets is passed over, so any part of a list is a list.
 */
export type Action =
  | {
      readonly do: 'lead';
      readonly c: number;
      readonly text: LeadText;
      /** Written so long before it arrives. */
      readonly lateMs?: number;
      readonly fault?: TransactionFault;
      /** The wake-up behind the commit is lost. */
      readonly unsignalled?: true;
    }
  | { readonly do: 'redeliver'; readonly fault?: TransactionFault }
  /** A webhook that was answered comes once more. */
  | { readonly do: 'repeat'; readonly n: number }
  | { readonly do: 'native'; readonly c: number; readonly author: 'other' | 'unknown' }
  | {
      readonly do: 'status';
      readonly n: number;
      readonly status: DeliveryStatus;
      readonly named: boolean;
    }
  | { readonly do: 'echo'; readonly n: number; readonly named: boolean }
  | {
      readonly do: 'staff';
      readonly c: number;
      readonly command: StaffCommand;
      readonly unsignalled?: true;
    }
  | ({ readonly do: 'run'; readonly c: number } & Effect)
  | ({ readonly do: 'late-worker' } & Effect)
  | { readonly do: 'relay' }
  | { readonly do: 'sweep' }
  | { readonly do: 'wait'; readonly ms: number }
  /** The clock moves on to the next instant at which something is due. */
  | { readonly do: 'next' }
  | { readonly do: 'kill'; readonly w: number }
  | { readonly do: 'freeze'; readonly w: number; readonly ms: number }
  | { readonly do: 'temporal-down'; readonly ms: number }
  | { readonly do: 'temporal-forgets' }
  | { readonly do: 'task-lost'; readonly c: number }
  | { readonly do: 'postgres-down'; readonly ms: number }
  | { readonly do: 'clock-step'; readonly ms: number }
  | { readonly do: 'mend' };

export type Deed = Action['do'];

/** The deeds that are faults; they are off in the liveness phase. */
export const FAULT_DEEDS = [
  'kill',
  'freeze',
  'temporal-down',
  'temporal-forgets',
  'task-lost',
  'postgres-down',
  'clock-step',
] as const satisfies readonly Deed[];

/** A step as one line of a printed list. */
export function describeAction(action: Action): string {
  const { do: deed, ...rest } = action;
  const words = Object.entries(rest).map(([key, value]) => `${key}=${String(value)}`);
  return [deed, ...words].join(' ');
}
