/** What a run of the benchmark found; `--json` writes it as it stands here. */
import type { HistoryCount } from './actions';
import type { Spread } from './figures';

export type Outcomes = Readonly<Record<string, number>>;

export interface PhaseResult {
  /** floor, graphile or ours. */
  readonly name: string;
  readonly target: string;
  readonly rate: number;
  /** Leads of the whole phase; `measured` leaves out those of the warm-up. */
  readonly leads: number;
  readonly measured: number;
  readonly latency: Spread;
  readonly webhook: Spread;
  readonly lateness: Spread;
  readonly refused: number;
  readonly outcomes: Outcomes;
  readonly lost: number;
  readonly doubled: number;
  readonly cpu: CpuResult | null;
  readonly stages?: readonly (Spread & { readonly what: string })[];
  readonly perLead?: HistoryCount;
}

export interface CpuResult {
  readonly perLead: Readonly<Record<string, number>>;
  readonly total: number;
  readonly othersShare: number;
}

export interface KillResult {
  readonly kills: number;
  readonly messages: number;
  readonly before: Spread;
  readonly addedNotHeld: Spread;
  readonly addedHeld: Spread;
  readonly heldCases: readonly { readonly held: string; readonly addedMs: number }[];
  /** Sends gated before the kill whose answer the killed worker never recorded. */
  readonly inFlight: readonly { readonly reached: boolean; readonly known: string }[];
  readonly outcomes: Outcomes;
  readonly lost: number;
  readonly doubled: number;
}

export interface ConversationResult extends HistoryCount {
  readonly accepted: number;
  readonly outcomes: Outcomes;
}

export interface RunResult {
  readonly options: {
    readonly seconds: number;
    readonly seed: number;
    readonly echoes: boolean;
    readonly short: boolean;
  };
  readonly machine: {
    readonly cores: number;
    readonly processor: string;
    readonly node: string;
    readonly temporal: string;
    readonly postgres: {
      readonly version: string;
      readonly fsync: string;
      readonly commit: { readonly p50: number; readonly p99: number };
    };
  };
  readonly idle?: Readonly<Record<string, number>> | null;
  readonly load?: readonly PhaseResult[];
  readonly kill?: KillResult;
  readonly conversations?: { readonly a: ConversationResult; readonly b: ConversationResult };
}
