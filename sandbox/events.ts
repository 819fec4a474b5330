import type { SandboxChannel } from './channels';
import type { ThreadEntry } from './thread-entry';

/** What the phone page and the state file hear about. */
export type SandboxEvent =
  | {
      readonly type: 'thread';
      readonly channel: SandboxChannel;
      readonly lead: string;
      readonly entry: ThreadEntry;
    }
  | {
      readonly type: 'typing';
      readonly channel: SandboxChannel;
      readonly lead: string;
      readonly typing: boolean;
    }
  | {
      readonly type: 'webhook';
      readonly channel: SandboxChannel;
      readonly account: string;
      readonly nature: string;
      readonly attempt: number;
      /** 0 where the app could not be reached. */
      readonly status: number;
      readonly reason: string | null;
    }
  | { readonly type: 'faults' }
  | {
      readonly type: 'opt-out';
      readonly account: string;
      readonly phone: string;
      readonly blocked: boolean;
    };

type Listener = (event: SandboxEvent) => void;

/** Hands each event to whoever listens at that moment. */
export class EventHub {
  readonly #listeners = new Set<Listener>();

  publish(event: SandboxEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** Returns the function that ends the subscription. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }
}
