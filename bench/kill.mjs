/**
 * A worker killed under load: two workers, 5 leads a second, every second message from a lead who
 * wrote before (so that conversations are cached on either worker), SIGKILL for one of them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../dev/machine.mjs';
import { META, PAGE_ID, startWorker } from './environment.mjs';
import { leadId, nextLeadPrefix } from './phase.mjs';

const RATE = 5;
const BEFORE_MS = 12_000;
const AFTER_MS = 12_000;
/** How long ago a returning lead wrote first, at least: its answer has long left. */
const RETURN_AFTER_MS = 5_000;
/** As a real provider: without it no call would ever be in flight at the kill. */
const PROVIDER_ANSWERS_AFTER_MS = 150;
const POLLING_MS = 30_000;
/** An attempt whose outcome is unknown is judged 20 s after its gate (C6). */
const JUDGED_MS = 45_000;

const FIRST_TEXT = 'My water heater is leaking, can you come today? 60614';
const SECOND_TEXT = 'It is a 50 gallon tank and it started this morning. My name is Dana.';

/** Arrival times from the seed; where a lead of long ago is left, every second one returns. */
function planMessages({ figures, prefix, seed }) {
  const durationMs = BEFORE_MS + AFTER_MS;
  const times = figures.planArrivals({ rate: RATE, durationMs, seed });
  const waiting = [];
  let leads = 0;
  return times.map((atMs, index) => {
    const returns = index % 2 === 1 && waiting[0] && atMs - waiting[0].atMs >= RETURN_AFTER_MS;
    if (returns) return { atMs, lead: waiting.shift().lead, text: SECOND_TEXT };
    const lead = leadId(prefix, (leads += 1));
    waiting.push({ atMs, lead });
    return { atMs, lead, text: FIRST_TEXT };
  });
}

function isOf(worker, identity) {
  return identity?.startsWith(`${worker.pid}@`) ?? false;
}

async function untilPolling(histories, worker) {
  const polls = await waitFor(
    async () => {
      worker.check();
      return (await histories.pollers()).some((identity) => isOf(worker, identity));
    },
    { timeoutMs: POLLING_MS },
  );
  if (!polls) throw new Error(`${worker.name} does not poll`);
}

/** What the killed worker had taken of the conversation and not finished, in words; else null. */
function heldBy(events, worker) {
  const byId = new Map(events.map((event) => [String(event.eventId), event]));
  const started = (ending) => byId.get(String(ending?.startedEventId));
  for (const event of events) {
    const task = started(
      event.workflowTaskTimedOutEventAttributes ?? event.workflowTaskFailedEventAttributes,
    );
    if (isOf(worker, task?.workflowTaskStartedEventAttributes?.identity)) return 'workflow task';
    const activity = started(event.activityTaskTimedOutEventAttributes);
    if (isOf(worker, activity?.activityTaskStartedEventAttributes?.identity)) return 'activity';
  }
  return null;
}

/** One kill under load, and what became of each message. */
async function killOnce(context, { worker, prefix, seed }) {
  const { environment, targets, figures } = context;
  const arrivals = planMessages({ figures, prefix, seed });
  const running = environment.load.ask('run', {
    url: targets.ours.url,
    appSecret: META.appSecret,
    pageId: PAGE_ID,
    arrivals,
  });
  await sleep(BEFORE_MS);
  const killedAtMs = Number(process.hrtime.bigint()) / 1e6;
  const killedWallMs = performance.timeOrigin + performance.now();
  await worker.kill();
  return { killedAtMs, killedWallMs, samples: await running };
}

/** Gated before the kill, and without the answer that its worker would have recorded. */
function inFlightAt(attempts, killedWallMs) {
  return attempts.filter(
    ({ gateAt, outcomes }) => gateAt <= killedWallMs && !outcomes?.includes('response:accepted'),
  );
}

async function untilJudged({ facts }, prefix) {
  const outcomes = await facts.settledOutcomes(prefix, JUDGED_MS);
  await waitFor(async () => (await facts.attempts(prefix)).every((it) => it.outcomes !== null), {
    timeoutMs: JUDGED_MS,
    everyMs: 500,
  });
  return outcomes;
}

async function judge(context, { worker, prefix, killedAtMs, killedWallMs, samples }) {
  const { environment, facts, histories } = context;
  const outcomes = await untilJudged(context, prefix);
  const rows = await facts.stages(prefix);
  const attempts = await facts.attempts(prefix);
  const sends = await environment.provider.ask('take');
  const receipts = new Map(sends.map((send) => [send.correlation, send]));
  const intended = new Map(samples.map((sample) => [sample.mid, sample.intendedMs]));
  const inFlight = inFlightAt(attempts, killedWallMs);
  const messages = [];
  for (const row of rows) {
    const receipt = receipts.get(row.attemptId);
    // A newer answer may cover a message whose own answer was in flight: that one counts apart.
    const flying = inFlight.some(
      ({ conversationId, gateAt }) =>
        conversationId === row.conversationId && row.storedAt <= gateAt,
    );
    messages.push({
      latencyMs: receipt ? receipt.atMs - intended.get(row.mid) : null,
      beforeKill: receipt !== undefined && receipt.atMs < killedAtMs,
      held: heldBy(await histories.eventsOf(row.conversationId), worker),
      flying,
    });
  }
  const lost = Math.max(samples.filter(({ status }) => status === 200).length - rows.length, 0);
  return {
    outcomes,
    messages,
    inFlight: inFlight.map(({ attemptId, outcomes: known }) => ({
      reached: receipts.has(attemptId),
      known: known?.at(-1) ?? 'nothing',
    })),
    lost: lost + outcomes.owed,
    doubled: doubledSends(sends, attempts),
  };
}

/** Sends of one logical send beyond the first, and sends that no attempt stands for. */
function doubledSends(sends, attempts) {
  const sendOf = new Map(attempts.map(({ attemptId, sendId }) => [attemptId, sendId]));
  const counts = new Map();
  for (const { correlation } of sends) {
    const key = sendOf.get(correlation) ?? 'unknown';
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const unknown = counts.get('unknown') ?? 0;
  counts.delete('unknown');
  return [...counts.values()].reduce((sum, count) => sum + count - 1, unknown);
}

function summarise(figures, rounds) {
  const { spreadOf } = figures;
  const messages = rounds.flatMap((round) => round.messages);
  const latencies = (list) =>
    list.filter(({ latencyMs }) => latencyMs !== null).map((it) => it.latencyMs);
  const before = spreadOf(latencies(messages.filter((message) => message.beforeKill)));
  const late = messages.filter((message) => !message.beforeKill && !message.flying);
  const added = (list) => spreadOf(latencies(list).map((ms) => Math.max(ms - before.p50, 0)));
  const outcomes = {};
  for (const round of rounds) {
    for (const [name, count] of Object.entries(round.outcomes)) {
      outcomes[name] = (outcomes[name] ?? 0) + count;
    }
  }
  return {
    kills: rounds.length,
    messages: messages.length,
    before,
    addedNotHeld: added(late.filter(({ held }) => held === null)),
    addedHeld: added(late.filter(({ held }) => held !== null)),
    heldCases: heldCases(late, before.p50),
    inFlight: rounds.flatMap((round) => round.inFlight),
    outcomes,
    lost: rounds.reduce((sum, round) => sum + round.lost, 0),
    doubled: rounds.reduce((sum, round) => sum + round.doubled, 0),
  };
}

/** Each message whose task died with its worker: what was held, and how much later it left. */
function heldCases(late, usualMs) {
  return late
    .filter(({ held, latencyMs }) => held !== null && latencyMs !== null)
    .map(({ held, latencyMs }) => ({ held, addedMs: Math.max(latencyMs - usualMs, 0) }))
    .sort((left, right) => right.addedMs - left.addedMs);
}

/** Kills as many workers as the options ask for, one after the other, each under fresh load. */
export async function measureKills(context, progress) {
  const { options, run, environment, targets, figures, histories } = context;
  const { provider } = environment;
  await provider.ask('settings', { answerAfterMs: PROVIDER_ANSWERS_AFTER_MS, echoes: null });
  const rounds = [];
  for (let round = 1; round <= options.kills; round += 1) {
    const worker = run.add(startWorker(targets.ours.env, `worker-killed-${round}`));
    await untilPolling(histories, worker);
    progress(`kill ${round} of ${options.kills}: two workers, ${RATE} leads a second`);
    const prefix = nextLeadPrefix();
    await provider.ask('take');
    const killed = await killOnce(context, { worker, prefix, seed: options.seed * 7000 + round });
    rounds.push(await judge(context, { worker, prefix, ...killed }));
  }
  await provider.ask('settings', { answerAfterMs: 0, echoes: null });
  return summarise(figures, rounds);
}
