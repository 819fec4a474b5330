/** One phase of load: one target, one rate, arrivals fixed before it starts. */
import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../dev/machine.mjs';
import { startCpu } from './cpu.mjs';
import { META, PAGE_ID } from './environment.mjs';

const TEXT = 'My water heater is leaking, can you come today? 60614';
/** So long after the last arrival a lead may still be answered; then it counts as not answered. */
const DRAIN_MS = 30_000;
/** What follows the provider's answer (marker, record, end of the workflow task) is paid for too. */
const AFTERMATH_MS = 1_000;

let phases = 0;

/** A prefix of sender ids that no other phase of this run uses. */
export function nextLeadPrefix() {
  phases += 1;
  return `7${String(phases).padStart(3, '0')}`;
}

export function leadId(prefix, index) {
  return `${prefix}${String(index).padStart(11, '0')}`;
}

/** Posts the arrivals to a target and waits until each has been sent to, or time is up. */
export async function sendLeads({ environment, target, arrivals, expected, drainMs = DRAIN_MS }) {
  const { provider, load } = environment;
  await provider.ask('take');
  const samples = await load.ask('run', {
    url: target.url,
    appSecret: META.appSecret,
    pageId: PAGE_ID,
    arrivals,
  });
  await waitFor(async () => (await provider.ask('count')) >= expected, {
    timeoutMs: drainMs,
    everyMs: 50,
  });
  return samples;
}

function byLead(sends) {
  const map = new Map();
  for (const send of sends) map.set(send.to, [...(map.get(send.to) ?? []), send]);
  return map;
}

/**
 * Runs one phase. What is measured leaves out the warm-up; the CPU is that of the whole phase,
 * over all its leads.
 */
export async function runPhase({ environment, target, figures, rate, seconds, warmUp, seed }) {
  const { planArrivals, spreadOf } = figures;
  const prefix = nextLeadPrefix();
  const durationMs = (warmUp + seconds) * 1000;
  const arrivals = planArrivals({ rate, durationMs, seed }).map((atMs, index) => ({
    atMs,
    lead: leadId(prefix, index),
    text: TEXT,
  }));
  const { postgres, provider, load } = environment;
  const usedCpu = startCpu({
    ...target.processes,
    postgres: { pid: postgres.pid, tree: true },
    provider: { pid: provider.pid },
    load: { pid: load.pid },
  });
  const samples = await sendLeads({ environment, target, arrivals, expected: arrivals.length });
  await sleep(AFTERMATH_MS);
  const cpu = usedCpu();
  const sends = await provider.ask('take');
  const sent = byLead(sends);
  const measured = samples.filter((_, index) => arrivals[index].atMs >= warmUp * 1000);
  const latencies = measured.flatMap(({ lead, intendedMs }) => {
    const [first] = sent.get(lead) ?? [];
    return first ? [first.atMs - intendedMs] : [];
  });
  return {
    target: target.title,
    prefix,
    rate,
    leads: samples.length,
    measured: measured.length,
    latency: spreadOf(latencies),
    webhook: spreadOf(measured.map(({ answeredMs, intendedMs }) => answeredMs - intendedMs)),
    lateness: spreadOf(measured.map(({ sentMs, intendedMs }) => sentMs - intendedMs)),
    refused: samples.filter(({ status }) => status !== 200).length,
    outcomes: ledgerOutcomes(samples, sent),
    // Without facts behind it, a lead that was taken and not answered is simply gone.
    lost: samples.filter(({ lead, status }) => status === 200 && !sent.has(lead)).length,
    doubled: [...sent.values()].reduce((sum, list) => sum + list.length - 1, 0),
    cpu: cpu && cpuPerLead(cpu, samples.length),
    samples,
    sends,
  };
}

/** All that a responder without a ledger of its own can tell. */
function ledgerOutcomes(samples, sent) {
  const answered = samples.filter(({ lead }) => sent.has(lead)).length;
  const silent = samples.length - answered;
  return { answered, 'handed over': 0, unknown: 0, 'no-answer': silent };
}

const MEASURING = ['provider', 'load'];

/** CPU ms per lead by process; the load generator and the provider stand apart. */
function cpuPerLead({ seconds, othersShare, elapsedSeconds }, leads) {
  const perLead = Object.fromEntries(
    Object.entries(seconds).map(([name, value]) => [name, (value * 1000) / leads]),
  );
  const total = Object.entries(perLead)
    .filter(([name]) => !MEASURING.includes(name))
    .reduce((sum, [, value]) => sum + value, 0);
  return { perLead, total, othersShare, elapsedSeconds };
}
