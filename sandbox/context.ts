import { AccountBook } from './accounts';
import { Background } from './background';
import type { SandboxChannel } from './channels';
import { WebhookCourier } from './courier';
import { Deliveries } from './deliveries';
import { EventHub } from './events';
import { FaultBoard } from './faults';
import { Ledger } from './ledger';
import { People } from './people';
import type { SandboxSettings } from './settings';
import { Threads } from './threads';
import { SmsStore } from './twilio/sms-store';

/** Everything one running sandbox knows. Two sandboxes in one process share nothing. */
export interface SandboxContext {
  readonly settings: SandboxSettings;
  readonly accounts: AccountBook;
  readonly people: People;
  readonly threads: Threads;
  readonly ledger: Ledger;
  readonly faults: FaultBoard;
  /** Added to every provider API call of a channel, in milliseconds. */
  readonly latency: Map<SandboxChannel, number>;
  readonly courier: WebhookCourier;
  /** Webhooks that the app answered with 2xx. */
  readonly deliveries: Deliveries;
  readonly events: EventHub;
  readonly background: Background;
  readonly sms: SmsStore;
  /** The sandbox's own origin, for media addresses; known once it listens. */
  readonly self: { url: string };
}

function numbersOf(settings: SandboxSettings): string[] {
  return settings.accounts.flatMap((account) => {
    if (account.channel === 'sms') return [account.externalId];
    return account.displayPhoneNumber === undefined ? [] : [`+${account.displayPhoneNumber}`];
  });
}

/** Builds the state of one sandbox. */
export function createContext(settings: SandboxSettings): SandboxContext {
  const events = new EventHub();
  const faults = new FaultBoard(events);
  const background = new Background(settings.onError);
  const deliveries = new Deliveries(settings.ledgerLimit);
  return {
    settings,
    accounts: new AccountBook(settings.accounts),
    people: new People(numbersOf(settings)),
    threads: new Threads(events),
    ledger: new Ledger(settings.ledgerLimit),
    faults,
    latency: new Map(),
    courier: new WebhookCourier({ settings, faults, events, background, deliveries }),
    deliveries,
    events,
    background,
    sms: new SmsStore(events),
    self: { url: '' },
  };
}

/** The current instant as ISO 8601. */
export function isoNow(context: SandboxContext): string {
  return new Date(context.settings.now()).toISOString();
}
