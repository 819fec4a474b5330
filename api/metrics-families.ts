import { Counter, Gauge, type Registry } from 'prom-client';
import { REVIEW_BUCKETS, STAGE_BUCKETS } from '../db/figures-buckets';

/** A value that Postgres counted: `labels` is canonical JSON. */
export interface Figure {
  readonly name: string;
  readonly labels: string;
  readonly value: number;
}

/** Both of its series always stand, so that an alert sees the first late one rise from 0. */
const ESCALATIONS = 'unsilent_escalations_total';

/** Counters, with their labels, in the words of docs/spec.md C9. */
const COUNTERS: Readonly<Record<string, readonly [help: string, ...labels: string[]]>> = {
  unsilent_send_attempts_total: [
    'Calls to providers that the gate let pass.',
    'channel',
    'purpose',
  ],
  unsilent_attempt_outcomes_total: [
    'What became known of attempts: acknowledgement and unknown rates.',
    ...['channel', 'outcome', 'evidence'],
  ],
  unsilent_sends_before_not_before_total: ['Sends before their notBefore; must be 0.'],
  unsilent_sends_after_expires_at_total: ['Sends at or after their expiresAt; must be 0.'],
  unsilent_duplicate_logical_sends_total: ['Logical sends accepted more than once; must be 0.'],
  unsilent_policy_cancellations_total: ['Sends that were cancelled before they left.'],
  unsilent_cancelled_sends_total: ['The same by reason.', 'channel', 'reason'],
  unsilent_send_breaker_trips_total: ['Sends refused by the send breaker.'],
  unsilent_sends_total: ['Sends by what became of them.', 'channel', 'outcome'],
  [ESCALATIONS]: ['Escalations, by whether they came by their deadline.', 'met'],
  unsilent_takeover_requests_total: ['Handovers, by who asked and why.', 'actor', 'reason'],
  unsilent_work_items_opened_total: ['Work items opened.', 'kind'],
  unsilent_receipts_total: ['Elements received, by provider.', 'provider', 'quarantined'],
  unsilent_duplicate_elements_total: [
    'Elements that came again; `differs` is one id with two contents.',
    ...['provider', 'differs'],
  ],
  unsilent_sweeper_handovers_total: ['Leads that the sweeper gave to a person.'],
  unsilent_quarantined_total: ['Elements that could not be read and were put aside.'],
  unsilent_content_conflicts_total: ['Event ids that came with two contents; must be 0.'],
  unsilent_traces_total: ['Owed messages that ended, by outcome.', 'channel', 'outcome'],
  unsilent_skewed_source_times_total: ['Messages written after they arrived.', 'channel'],
  unsilent_jobs_ended_total: ['Jobs that ended.', 'operation', 'state'],
};

const GAUGES: Readonly<Record<string, readonly [help: string, ...labels: string[]]>> = {
  unsilent_invariant_violations: ['Rows that break an invariant; must be 0.', 'invariant'],
  unsilent_jobs: ['Jobs that have not succeeded.', 'operation', 'state'],
  unsilent_open_sends: ['Sends on their way.', 'state'],
  unsilent_open_items: ['Open work items.', 'kind', 'queue'],
  unsilent_notice_deliveries: ['Notices that were not delivered.', 'state'],
};

/** Histograms of the transport stages and of review, each by one label, in seconds. */
const HISTOGRAMS: Readonly<
  Record<string, readonly [help: string, label: string, buckets: readonly number[]]>
> = {
  unsilent_source_to_ingress_seconds: ['Written to received.', 'channel', STAGE_BUCKETS],
  unsilent_normalize_seconds: ['Received to understood as an event.', 'channel', STAGE_BUCKETS],
  unsilent_queue_wait_seconds: ['Received to taken by a turn.', 'channel', STAGE_BUCKETS],
  unsilent_decision_seconds: ['Taken to decided.', 'channel', STAGE_BUCKETS],
  unsilent_outbound_seconds: ["The provider's call.", 'channel', STAGE_BUCKETS],
  unsilent_acknowledgement_seconds: ['Decided to acknowledged.', 'channel', STAGE_BUCKETS],
  unsilent_internal_total_seconds: ['Received to acknowledged.', 'channel', STAGE_BUCKETS],
  unsilent_visible_seconds: ['Acknowledged to visible.', 'channel', STAGE_BUCKETS],
  unsilent_review_seconds: ['How long work items waited for a person.', 'kind', REVIEW_BUCKETS],
};

function labelsOf(figure: Figure): Record<string, string> {
  const parsed: unknown = JSON.parse(figure.labels);
  if (typeof parsed !== 'object' || parsed === null) throw new Error('labels are no object');
  return Object.fromEntries(Object.entries(parsed).map(([name, value]) => [name, String(value)]));
}

/**
 * One histogram as Prometheus text, from counts by bucket that are not cumulated
 * (`<name>/bucket`) and sums (`<name>/sum`): prom-client only knows samples that it observed.
 */
function histogramText(name: string, figures: readonly Figure[]): string {
  const [help, label, bounds] = HISTOGRAMS[name] ?? ['', '', []];
  const rows = figures
    .filter((figure) => figure.name.startsWith(`${name}/`))
    .map((figure) => ({ ...figure, labels: labelsOf(figure) }));
  const groups = new Set(rows.map(({ labels }) => labels[label] ?? ''));
  const lines = [...groups].flatMap((group) => {
    const own = rows.filter(({ labels }) => labels[label] === group);
    let total = 0;
    const buckets = [...bounds.map(String), '+Inf'].map((le) => {
      total += own.find(({ labels }) => labels['le'] === le)?.value ?? 0;
      return `${name}_bucket{${label}="${group}",le="${le}"} ${total}`;
    });
    const sum = own.find((figure) => figure.name.endsWith('/sum'))?.value ?? 0;
    const of = `{${label}="${group}"}`;
    return [...buckets, `${name}_sum${of} ${sum}`, `${name}_count${of} ${total}`];
  });
  return [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`, ...lines].join('\n');
}

/** Every histogram of docs/spec.md C9 as Prometheus text. */
export function histogramsText(figures: readonly Figure[]): string {
  return Object.keys(HISTOGRAMS)
    .map((name) => `${histogramText(name, figures)}\n`)
    .join('\n');
}

/** Takes what was read from Postgres into a registry. */
export interface Families {
  take(figures: readonly Figure[]): void;
}

/** Registers the counters and the gauges with labels; a figure of another name is an error. */
export function registerFamilies(registry: Registry): Families {
  const registers = [registry];
  const made = (name: string, [help, ...labelNames]: readonly [string, ...string[]]) => ({
    name,
    help,
    labelNames,
    registers,
  });
  const counters = new Map(
    Object.entries(COUNTERS).map(([name, what]) => [name, new Counter(made(name, what))]),
  );
  const gauges = new Map(
    Object.entries(GAUGES).map(([name, what]) => [name, new Gauge(made(name, what))]),
  );
  return {
    take: (figures) => {
      for (const counter of counters.values()) counter.reset();
      for (const gauge of gauges.values()) gauge.reset();
      for (const met of ['true', 'false']) counters.get(ESCALATIONS)?.inc({ met }, 0);
      for (const figure of figures) {
        if (figure.name.includes('/')) continue;
        const gauge = gauges.get(figure.name);
        const counter = counters.get(figure.name);
        if (gauge !== undefined) gauge.set(labelsOf(figure), figure.value);
        else if (counter !== undefined) counter.inc(labelsOf(figure), figure.value);
        else throw new Error(`the figure ${figure.name} has no family`);
      }
    },
  };
}
