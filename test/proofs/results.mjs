/** What a run of the tiers says: which tests there were, which ids they carry, how they ended. */

export const TIERS = ['unit', 'db', 'workflow', 'process', 'browser'];

const CITATION = /\[([A-Z]+-?\d[^\]]*)\]/g;

/** The ids in brackets in a title, `[T1]` or `[IN1, IN7]`, as they stand there. */
function citedIds(title) {
  return [...title.matchAll(CITATION)].flatMap(([, ids]) => ids.split(/\s*,\s*/));
}

/** All tests of the results of jest by tier, each with its tier, names, ids and ending. */
export function testsOf(results) {
  return TIERS.flatMap((tier) =>
    (results[tier]?.testResults ?? []).flatMap(({ assertionResults }) =>
      assertionResults.map(({ title, fullName, status }) => ({
        tier,
        title,
        fullName,
        ids: citedIds(fullName),
        passed: status === 'passed',
        failed: status === 'failed',
      })),
    ),
  );
}

/** Whether the browser tier has tests and ran none of them: the machine has no browser. */
export function browserWasSkipped(tests) {
  const browser = tests.filter(({ tier }) => tier === 'browser');
  return browser.length > 0 && browser.every(({ passed, failed }) => !passed && !failed);
}
