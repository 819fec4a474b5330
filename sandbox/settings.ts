import type { SandboxAccount } from './accounts';
import { DEMO_IDS, DEMO_SECRETS, demoAccounts } from './demo-accounts';

/** What a caller of `startSandbox` may choose; everything has a default. */
export interface SandboxOptions {
  /** 0 takes a free port. */
  readonly port?: number;
  readonly host?: string;
  /** The origin that the app under test is known by: providers sign and call it. */
  readonly publicUrl?: string;
  /** Where that origin is really reached, when a proxy would stand between (default: `publicUrl`). */
  readonly reachableAt?: string;
  readonly metaAppId?: string;
  readonly metaAppSecret?: string;
  readonly metaVerifyToken?: string;
  readonly metaAccessToken?: string;
  readonly twilioAccountSid?: string;
  readonly twilioAuthToken?: string;
  readonly accounts?: readonly SandboxAccount[];
  /** Delays between Meta's tries of one webhook. */
  readonly metaRetryDelaysMs?: readonly number[];
  readonly metaTimeoutMs?: number;
  readonly twilioTimeoutMs?: number;
  /** From the acceptance of a send to its echo or first status. */
  readonly echoDelayMs?: number;
  /** The longest that a reordered webhook waits for another one to overtake it. */
  readonly reorderHoldMs?: number;
  readonly ledgerLimit?: number;
  /** Keeps threads and opt-outs over restarts; without it everything lives in memory. */
  readonly stateFile?: string;
  /** Epoch milliseconds; tests of windows pass their own. */
  readonly now?: () => number;
  /** Called with failures of work that no request waits for. */
  readonly onError?: (error: unknown) => void;
}

export type SandboxSettings = Readonly<Required<Omit<SandboxOptions, 'stateFile'>>> & {
  readonly stateFile: string | null;
};

const DEFAULTS = {
  port: 3100,
  host: '127.0.0.1',
  publicUrl: 'http://localhost:3000',
  metaAppId: DEMO_IDS.metaAppId,
  ...DEMO_SECRETS,
  metaRetryDelaysMs: [1_000, 5_000, 30_000, 120_000],
  metaTimeoutMs: 5_000,
  twilioTimeoutMs: 15_000,
  echoDelayMs: 30,
  reorderHoldMs: 5_000,
  ledgerLimit: 100_000,
  now: Date.now,
  onError: (error: unknown) => process.stderr.write(`sandbox: ${String(error)}\n`),
};

/** Fills in the defaults. Throws when a secret is empty: a signature with no key proves nothing. */
export function settingsFrom(options: SandboxOptions): SandboxSettings {
  const merged = { ...DEFAULTS, ...options };
  const secrets = [
    'metaAppSecret',
    'metaAccessToken',
    'twilioAccountSid',
    'twilioAuthToken',
  ] as const;
  for (const name of secrets) {
    if (merged[name] === '') throw new Error(`The sandbox needs a value for ${name}.`);
  }
  const publicUrl = merged.publicUrl.replace(/\/+$/, '');
  return {
    ...merged,
    publicUrl,
    reachableAt: (merged.reachableAt ?? publicUrl).replace(/\/+$/, ''),
    accounts: merged.accounts ?? demoAccounts(merged.twilioAccountSid),
    stateFile: merged.stateFile ?? null,
  };
}
