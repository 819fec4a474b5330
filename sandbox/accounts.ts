import type { SandboxChannel } from './channels';

/** One account of a business at a provider. */
export interface SandboxAccount {
  readonly channel: SandboxChannel;
  /** What sends are addressed from: page id, Instagram id, phone_number_id, SMS number (E.164). */
  readonly externalId: string;
  /** What owns it: page id, Instagram id, WhatsApp business account id, Twilio account sid. */
  readonly accountId: string;
  readonly name: string;
  /** WhatsApp only: the number in digits, as `metadata.display_phone_number` shows it. */
  readonly displayPhoneNumber?: string;
}

/** The accounts that these providers know. */
export class AccountBook {
  readonly #accounts: readonly SandboxAccount[];

  constructor(accounts: readonly SandboxAccount[]) {
    this.#accounts = accounts;
  }

  all(): readonly SandboxAccount[] {
    return this.#accounts;
  }

  /** The account of `channel` with that external id; without an id the channel's first account. */
  find(channel: SandboxChannel, externalId?: string): SandboxAccount | null {
    const matches = (account: SandboxAccount) =>
      account.channel === channel &&
      (externalId === undefined || account.externalId === externalId);
    return this.#accounts.find(matches) ?? null;
  }

  /** The Messenger, Instagram or WhatsApp account that a Graph API path names. */
  findAtMeta(externalId: string): SandboxAccount | null {
    const matches = (account: SandboxAccount) =>
      account.channel !== 'sms' && account.externalId === externalId;
    return this.#accounts.find(matches) ?? null;
  }
}
