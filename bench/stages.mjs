/** Where the time of an answered lead goes, from its traces, its attempt and its history. */

const HISTORY_SAMPLE = 60;

const first = (events, attributes) => events.find((event) => event[attributes]);

/** The instants of the first turn in the history. */
function temporalInstants(events) {
  const at = (attributes) => first(events, attributes)?.atMs ?? null;
  return {
    startedAt: at('workflowExecutionStartedEventAttributes'),
    taskStartedAt: at('workflowTaskStartedEventAttributes'),
    taskCompletedAt: at('workflowTaskCompletedEventAttributes'),
    activityStartedAt: at('activityTaskStartedEventAttributes'),
    activityCompletedAt: at('activityTaskCompletedEventAttributes'),
  };
}

/** From, to, and what lies between; the order is the order of one lead's way. */
const STAGES = [
  ['intendedAt', 'ingressAt', 'generator, network, request read by the api'],
  ['ingressAt', 'normalizedAt', 'signature, parsing, opt-out words'],
  ['normalizedAt', 'storedAt', 'ingest: receipt, identity, conversation locked'],
  ['storedAt', 'answeredAt', 'ingest: message, debt, commit; 200 at the caller'],
  ['answeredAt', 'startedAt', 'signalWithStart until Temporal has stored it'],
  ['startedAt', 'taskStartedAt', 'Temporal: workflow task handed to the worker'],
  ['taskStartedAt', 'turnAt', 'worker: activation, takeTurn begins, marker committed, locked'],
  ['turnAt', 'taskCompletedAt', 'turn: read, drafted, queued, committed; task completed'],
  ['taskCompletedAt', 'activityStartedAt', 'Temporal: deliver dispatched (eagerly)'],
  ['activityStartedAt', 'gateAt', 'worker: deliver begins, claim committed, gate locked'],
  ['gateAt', 'callAt', 'gate: checks, attempt, commit'],
  ['callAt', 'receivedAt', 'request written, at the provider'],
  ['intendedAt', 'receivedAt', 'IN ALL'],
  ['ingressAt', 'answeredAt', '(of it: the webhook, inside the api and back)'],
  ['startedAt', 'receivedAt', '(of it: from the start of the workflow)'],
  ['receivedAt', 'markedAt', 'afterwards: provider answers, sent marker committed'],
  ['markedAt', 'settledAt', 'afterwards: the record begins'],
  ['receivedAt', 'activityCompletedAt', 'afterwards: until Temporal has the result'],
];

const isKnown = (instant) => instant !== undefined && instant !== null;

/** Joins what the generator, the provider, Postgres and Temporal saw of each measured lead. */
export async function measureStages({ phase, facts, histories, figures }) {
  const { spreadOf, countHistory } = figures;
  const rows = await facts.stages(phase.prefix);
  const samples = new Map(phase.samples.map((sample) => [sample.mid, sample]));
  const receipts = new Map(phase.sends.map((send) => [send.correlation, send]));
  const measured = rows.slice(-phase.measured);
  const step = Math.max(Math.floor(measured.length / HISTORY_SAMPLE), 1);
  const counts = [];
  const points = [];
  for (const [index, row] of measured.entries()) {
    const sample = samples.get(row.mid);
    const point = {
      ...row,
      intendedAt: sample?.intendedWallMs ?? null,
      answeredAt: sample?.answeredWallMs ?? null,
      receivedAt: receipts.get(row.attemptId)?.wallMs ?? null,
    };
    if (index % step === 0) {
      const events = await histories.eventsOf(row.conversationId);
      counts.push(countHistory([events]));
      Object.assign(point, temporalInstants(events));
    }
    points.push(point);
  }
  const stages = STAGES.map(([from, to, what]) => {
    const spans = points
      .filter((point) => isKnown(point[from]) && isKnown(point[to]))
      .map((point) => point[to] - point[from]);
    return { what, ...spreadOf(spans) };
  });
  return { stages, perLead: meanCounts(counts) };
}

function meanCounts(counts) {
  const names = Object.keys(counts[0] ?? {});
  return Object.fromEntries(
    names.map((name) => [
      name,
      counts.reduce((sum, count) => sum + count[name], 0) / counts.length,
    ]),
  );
}
