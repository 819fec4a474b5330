/** Says in words and figures what a run was and what became of the leads. */
const LISTED = 20;

function quantile(sorted, share) {
  if (sorted.length === 0) return null;
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}

const seconds = (ms) => (ms === null ? '–' : `${(ms / 1000).toFixed(1)} s`);

/** How long after each kill the next answer was accepted, or the next webhook answered. */
function recoveries({ toll, evidence }) {
  const answers = evidence.ledger.map(({ acceptedAtMs }) => acceptedAtMs).sort((a, b) => a - b);
  const groups = new Map();
  for (const { what, atMs } of toll.deaths) {
    const next = answers.find((answeredAtMs) => answeredAtMs > atMs);
    const list = groups.get(what) ?? [];
    groups.set(what, [...list, next === undefined ? null : next - atMs]);
  }
  return [...groups].map(([what, list]) => {
    const known = list.filter((ms) => ms !== null).sort((left, right) => left - right);
    return {
      what,
      kills: list.length,
      medianMs: quantile(known, 0.5),
      maxMs: known.at(-1) ?? null,
    };
  });
}

function table(rows) {
  const head = ['killed', 'times', 'next answer after (median)', 'at most'];
  const cells = rows.map(({ what, kills, medianMs, maxMs }) => {
    return [what, String(kills), seconds(medianMs), seconds(maxMs)];
  });
  const widths = head.map((title, column) =>
    Math.max(title.length, ...cells.map((row) => row[column].length)),
  );
  const line = (row) => `  ${row.map((cell, column) => cell.padEnd(widths[column])).join('  ')}`;
  return [head, ...cells].map((row) => line(row).trimEnd());
}

function list(title, findings) {
  if (findings.length === 0) return [];
  const lines = findings.slice(0, LISTED).map(({ lead, conversationId, what }) => {
    return `  ${lead} (${conversationId ?? 'no conversation'}): ${what}`;
  });
  const more = findings.length - LISTED;
  return [`${title}:`, ...lines, ...(more > 0 ? [`  and ${more} more`] : [])];
}

function counted(lines) {
  const counts = new Map();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return [...counts].map(([line, count]) =>
    count === 1 ? `  ${line}` : `  ${line} (${count} times)`,
  );
}

function repetition({ points, seed, kills }) {
  return points
    ? `npm run chaos -- --points --seed ${seed}`
    : `npm run chaos -- --kills ${kills} --seed ${seed}`;
}

/** The report of a run: `text` for people, `json` for tests. */
export function describe({
  options,
  verdict,
  evidence,
  toll,
  crashes,
  problems,
  seconds: took,
  mode,
}) {
  const rows = recoveries({ toll, evidence }).sort((a, b) => a.what.localeCompare(b.what, 'en'));
  const { handedOver, provoked, unknown, latenciesMs } = verdict;
  const share = (count) => `${((100 * count) / Math.max(verdict.delivered, 1)).toFixed(1)} %`;
  const text = [
    `${toll.count()} kills in ${(took / 60).toFixed(1)} minutes, seed ${options.seed}`,
    ...table(rows),
    '',
    `messages written ${evidence.written.length}, delivered ${verdict.delivered}, ` +
      `never delivered ${verdict.neverDelivered}; sends accepted ${evidence.ledger.length}`,
    `answered ${verdict.answered}, handed over ${handedOver.length} (${provoked} on purpose), ` +
      `unknown ${unknown.length}, no-answer ${verdict.noAnswer}, lost ${verdict.lost.length}, ` +
      `doubled ${verdict.doubled.length}, late ${verdict.late.length} (${share(verdict.late.length)}), ` +
      `told to wait ${verdict.waited.length}`,
    `from the 200 to the acceptance: median ${seconds(quantile(latenciesMs, 0.5))}, ` +
      `p95 ${seconds(quantile(latenciesMs, 0.95))}, p99 ${seconds(quantile(latenciesMs, 0.99))}, ` +
      `at most ${seconds(latenciesMs.at(-1) ?? null)}`,
    ...list('lost', verdict.lost),
    ...list('doubled', verdict.doubled),
    ...list('handed over', handedOver),
    ...list('unknown', unknown),
    ...list('late', verdict.late),
    ...(crashes.length > 0 ? ['ended or failed by itself:', ...counted(crashes)] : []),
    problems.length === 0
      ? 'Nobody was lost, nothing was doubled, every invariant holds.'
      : ['It does not pass:', ...problems.map((problem) => `  ${problem}`)].join('\n'),
    `Again: ${repetition(options)}`,
  ].join('\n');
  const json = {
    seed: options.seed,
    seconds: took,
    kills: toll.count(),
    recoveries: rows,
    points: Object.fromEntries(mode.results ?? []),
    answered: verdict.answered,
    handedOver: handedOver.length,
    provoked,
    unknown: unknown.length,
    noAnswer: verdict.noAnswer,
    lost: verdict.lost.length,
    doubled: verdict.doubled.length,
    late: verdict.late.length,
    problems,
  };
  return { text, json };
}
