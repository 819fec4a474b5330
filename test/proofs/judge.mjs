/** The verdict over a run: which ids it proves, and every sentence that must fail the build. */
import { definedIds } from './pages.mjs';
import { readPlan } from './plan.mjs';
import { TIERS, browserWasSkipped, testsOf } from './results.mjs';
import * as table from './table.mjs';
import { trapFaults } from './traps.mjs';

/**
 * Judges texts, not files. `pages` and `shared` are the texts of spec, invariants and traps by name
 * (`shared` may lack any), `plan` is proofs.yml, `map` is traps.md, `results` is jest's JSON by tier.
 */
export function judge({ pages, shared, plan: planText, map, readme, results }) {
  const known = new Map([...definedIds(pages.spec), ...definedIds(pages.invariants)]);
  const { plan, faults } = readPlan(planText, known);
  const standing = [...pageFaults(pages, shared), ...faults];
  const missing = TIERS.filter((tier) => !results[tier]);
  if (missing.length > 0) {
    const sentence = `No results of ${missing.join(', ')}: run \`npm test\`, which runs all tiers.`;
    return { failures: [...standing, sentence], notes: [], readme };
  }
  const tests = withSkippedTier(testsOf(results));
  const written = table.writtenSection(readme);
  const rows = rowsOf({ known, plan, tests, written: table.writtenMarks(written ?? '') });
  const section = table.renderSection(rows);
  return {
    failures: [
      ...standing,
      ...unknownIds(tests, known),
      ...rows.flatMap(rowFaults),
      ...trapFaults(map, pages.traps, tests),
      ...tableFaults(written, section),
    ],
    notes: [...browserNotes(rows, tests), ...earlyNotes(rows, tests)],
    readme: table.withSection(readme, section),
  };
}

function pageFaults(pages, shared) {
  return Object.keys(pages)
    .filter((name) => shared[name] !== undefined && shared[name] !== pages[name])
    .map((name) => `docs/${name}.md is not the shared page: copy ../shared/${name}.md over it.`);
}

function withSkippedTier(tests) {
  const skipped = browserWasSkipped(tests);
  return tests.map((test) => ({ ...test, skippedTier: skipped && test.tier === 'browser' }));
}

function unknownIds(tests, known) {
  const faults = tests.flatMap(({ fullName, ids }) =>
    ids
      .filter((id) => !known.has(id))
      .map((id) => `The test "${fullName}" carries ${id}, which no page defines.`),
  );
  return [...new Set(faults)];
}

/** The rows of the table in the order of the pages; an id with a faulty entry has none. */
function rowsOf({ known, plan, tests, written }) {
  return [...known]
    .filter(([id]) => plan.has(id))
    .map(([id, what]) => {
      const { tiers = [], later, planned } = plan.get(id);
      const marks = TIERS.filter((tier) => tiers.includes(tier)).map((tier) => {
        const carriers = tests.filter((test) => test.tier === tier && test.ids.includes(id));
        return { tier, ...markOf(carriers, written.get(id)?.[tier]) };
      });
      return { id, what, later, planned, marks };
    });
}

/** A tick needs a passing test and none that fails; a skipped tier keeps what is written. */
function markOf(carriers, written) {
  if (carriers.length === 0) return { mark: '✗', why: 'no test carries it' };
  if (carriers[0].skippedTier) return { mark: written === '✓' ? '✓' : '–' };
  const failing = carriers.find(({ failed }) => failed);
  if (failing) return { mark: '✗', why: `"${failing.fullName}" failed` };
  return carriers.some(({ passed }) => passed)
    ? { mark: '✓' }
    : { mark: '✗', why: 'its tests were skipped' };
}

function rowFaults({ id, marks }) {
  return marks
    .filter(({ mark }) => mark === '✗')
    .map(({ tier, why }) => `${id} is not proven in the tier ${tier}: ${why}.`);
}

function tableFaults(written, section) {
  if (written === null) return ['README.md has no coverage:begin and coverage:end markers.'];
  if (written === section) return [];
  const ids = table.differingIds(written, section);
  const where = ids.length > 0 ? ` in ${ids.join(', ')}` : '';
  return [
    `README.md's coverage table is stale${where}: run \`node test/proofs/coverage.mjs --write\`.`,
  ];
}

function browserNotes(rows, tests) {
  if (!browserWasSkipped(tests)) return [];
  const ids = rows.filter(({ marks }) => marks.some(({ tier }) => tier === 'browser'));
  const what = ids.length > 0 ? `: ${ids.map(({ id }) => id).join(', ')}` : '';
  return [`The browser tier was skipped; its ticks are taken as README.md has them${what}.`];
}

function earlyNotes(rows, tests) {
  const early = rows.filter(
    ({ id, planned }) => planned && tests.some(({ ids, passed }) => passed && ids.includes(id)),
  );
  if (early.length === 0) return [];
  return [`Planned, though tests carry it already: ${early.map(({ id }) => id).join(', ')}.`];
}
