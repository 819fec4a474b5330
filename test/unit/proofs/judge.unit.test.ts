interface Input {
  readonly pages: Readonly<Record<'spec' | 'invariants' | 'traps', string>>;
  readonly shared: Readonly<Record<string, string>>;
  readonly plan: string;
  readonly map: string;
  readonly readme: string;
  readonly results: Readonly<Record<string, unknown>>;
}
interface Verdict {
  readonly failures: readonly string[];
  readonly notes: readonly string[];
  readonly readme: string;
}
const { judge } = jest.requireActual<{ judge: (input: Input) => Verdict }>(
  '../../proofs/judge.mjs',
);

const PAGES = {
  spec: [
    '- **T1 The debt is written with the message.** It is.',
    '- **IN1** Authenticity over the raw bytes. Key: the id.',
    '- **BK1** real slots; **BK2** one lead per slot.',
    '- **SEC1–SEC2** are the checks of another page.',
  ].join('\n'),
  invariants: [
    '- **INV-1b Reconciled.** Never (T9).',
    '| # | check |',
    '|---|---|',
    '| SEC1 | **Matrix** of roles |',
  ].join('\n'),
  traps: ['| wrong | right |', '|---|---|', '| NUL in `text` | stored |', '| An echo | x |'].join(
    '\n',
  ),
};
const PLAN = [
  'T1: { tiers: [db] }',
  'IN1: { tiers: [unit, db], later: job retries }',
  'BK1: { planned: booking }',
  'BK2: { planned: booking }',
  'INV-1b: { planned: the reconciler }',
  'SEC1: { tiers: [browser] }',
].join('\n');
const MAP = '# Map\n\n- NUL in text\n  - `a store keeps it [T1]`\n- An echo\n  - later: channels\n';
const README = 'Before\n\n<!-- coverage:begin -->\n<!-- coverage:end -->\n\nAfter\n';

function ran(...tests: readonly (readonly [string, string])[]) {
  const assertionResults = tests.map(([fullName, status]) => ({
    title: fullName.replace(/^a store /, ''),
    fullName,
    status,
  }));
  return { testResults: [{ assertionResults }] };
}

const RESULTS = {
  unit: ran(['a key is verified [IN1]', 'passed']),
  db: ran(['a store keeps it [T1]', 'passed'], ['a store knows it [T1, IN1]', 'passed']),
  workflow: ran(),
  process: ran(),
  browser: ran(['a page is shown [SEC1]', 'passed']),
};

/** A checkout in which all is well: its table is the one that its run yields. */
function soundCheckout(): Input {
  const draft = { pages: PAGES, shared: PAGES, plan: PLAN, map: MAP, results: RESULTS };
  return { ...draft, readme: judge({ ...draft, readme: README }).readme };
}

const WITHOUT_BROWSER = { ...RESULTS, browser: ran(['a page is shown [SEC1]', 'pending']) };

describe('the proofs of a checkout', () => {
  const sound = soundCheckout();

  it('hold where each id has its tiers, its plan, its traps and its table', () => {
    expect(judge(sound)).toEqual({ failures: [], notes: [], readme: sound.readme });
  });

  it.each<[string, Partial<Input>, string]>([
    [
      'a test carries an id that no page defines',
      { results: { ...RESULTS, workflow: ran(['a run rolls [T1] [T9]', 'passed']) } },
      'The test "a run rolls [T1] [T9]" carries T9, which no page defines.',
    ],
    [
      'a bracket begins with an id and goes on otherwise',
      { results: { ...RESULTS, workflow: ran(['a run rolls [T1 partly]', 'passed']) } },
      'The test "a run rolls [T1 partly]" carries T1 partly, which no page defines.',
    ],
    [
      'the plan lacks an id',
      { plan: PLAN.replace(/^BK2.*\n/m, '') },
      'test/proofs.yml lacks BK2, which docs/ defines.',
    ],
    [
      'the plan names an unknown id',
      { plan: `${PLAN}\nT9: { planned: soon }` },
      'test/proofs.yml names T9, which no page defines.',
    ],
    [
      'the plan names an unknown tier',
      { plan: PLAN.replace('[db]', '[db, e2e]') },
      'test/proofs.yml: T1 names the tier "e2e"; there are unit, db, workflow, process, browser.',
    ],
    [
      'an id has neither tiers nor a plan',
      { plan: PLAN.replace('tiers: [db]', 'later: soon') },
      'test/proofs.yml: T1 needs either tiers or planned.',
    ],
    [
      'a plan names nothing',
      { plan: PLAN.replace('BK1: { planned: booking', "BK1: { planned: '?'") },
      'test/proofs.yml: BK1 does not say which later work brings it.',
    ],
    [
      'a tier has no test for an id',
      { plan: PLAN.replace('[db]', '[db, process]') },
      'T1 is not proven in the tier process: no test carries it.',
    ],
    [
      'a test of an id fails beside a passing one',
      { results: { ...RESULTS, unit: ran(['a [IN1]', 'passed'], ['b [IN1]', 'failed']) } },
      'IN1 is not proven in the tier unit: "b [IN1]" failed.',
    ],
    [
      'the tests of an id were skipped',
      { results: { ...RESULTS, unit: ran(['a [IN1]', 'pending']) } },
      'IN1 is not proven in the tier unit: its tests were skipped.',
    ],
    [
      'the table says more than the run',
      { plan: PLAN.replace('tiers: [db]', 'planned: soon') },
      "README.md's coverage table is stale in T1: run `node test/proofs/coverage.mjs --write`.",
    ],
    [
      'the totals of the table were edited',
      { readme: sound.readme.replace('6 ids', '7 ids') },
      "README.md's coverage table is stale: run `node test/proofs/coverage.mjs --write`.",
    ],
    [
      'the table has no place',
      { readme: 'Before\n' },
      'README.md has no coverage:begin and coverage:end markers.',
    ],
    [
      'a page differs from the shared one',
      { shared: { spec: 'changed' } },
      'docs/spec.md is not the shared page: copy ../shared/spec.md over it.',
    ],
    [
      'a trap is not mapped',
      { map: MAP.replace(/- An echo[^]*/, '') },
      'test/traps.md lacks the trap "An echo"',
    ],
    [
      'a trap is mapped twice',
      { map: MAP + MAP },
      'test/traps.md has 2 rows for the trap "An echo"',
    ],
    [
      'the map has words that begin no trap',
      { map: `${MAP}- Nothing\n  - later: x\n` },
      'test/traps.md: "Nothing" begins no row of docs/traps.md.',
    ],
    [
      'the map has words that begin several traps',
      { pages: { ...PAGES, traps: `${PAGES.traps}\n| An echo of ours | x |` }, shared: {} },
      'test/traps.md: "An echo" begins 2 rows of docs/traps.md.',
    ],
    [
      'nobody knows when a trap gets its test',
      { map: MAP.replace('channels', '?') },
      'test/traps.md: "An echo" has no test and no later work yet.',
    ],
    [
      'a trap has nothing below it',
      { map: MAP.replace('  - later: channels\n', '') },
      'test/traps.md: "An echo" has no test and no later work yet.',
    ],
    [
      'the test of a trap does not exist',
      { map: MAP.replace('keeps', 'held') },
      'test/traps.md: no test has the title "a store held it [T1]".',
    ],
    [
      'the test of a trap failed',
      { results: { ...RESULTS, db: ran(['a store keeps it [T1]', 'failed']) } },
      'test/traps.md: the test "a store keeps it [T1]" has not passed.',
    ],
    [
      'a tier left no results',
      { results: { ...RESULTS, db: undefined } },
      'No results of db: run `npm test`, which runs all tiers.',
    ],
  ])('fail where %s', (_name, change, sentence) => {
    expect(judge({ ...sound, ...change }).failures).toContain(sentence);
  });

  it.each(['T1: {', 'T1: { tiers: [db] }\nT1: { planned: soon }'])(
    'fail where the plan cannot be read: %j',
    (plan) => {
      const [failure] = judge({ ...sound, plan }).failures;
      expect(failure).toMatch(/^test\/proofs\.yml cannot be read: /);
    },
  );

  it('say which planned ids tests carry already, and fail for none of them', () => {
    const unit = ran(['a key is verified [IN1]', 'passed'], ['a slot is real [BK1]', 'passed']);
    const { failures, notes } = judge({ ...sound, results: { ...RESULTS, unit } });
    expect(failures).toEqual([]);
    expect(notes).toEqual(['Planned, though tests carry it already: BK1.']);
  });

  it('say nothing about shared pages that are not there', () => {
    expect(judge({ ...sound, shared: {} }).failures).toEqual([]);
  });

  it('accept the bare title of the test of a trap', () => {
    const map = MAP.replace('a store keeps', 'keeps');
    expect(judge({ ...sound, map }).failures).toEqual([]);
  });
});

describe('a run without a browser', () => {
  const sound = soundCheckout();

  it('keeps the tick that README.md has, and says so', () => {
    const { failures, notes } = judge({ ...sound, results: WITHOUT_BROWSER });
    expect(failures).toEqual([]);
    expect(notes).toEqual([
      'The browser tier was skipped; its ticks are taken as README.md has them: SEC1.',
    ]);
  });

  it('writes a dash, not a tick, where README.md has none', () => {
    const { readme } = judge({ ...sound, readme: README, results: WITHOUT_BROWSER });
    expect(readme).toMatch(/SEC1 .* browser –/);
    expect(judge({ ...sound, readme, results: WITHOUT_BROWSER }).failures).toEqual([]);
    expect(judge({ ...sound, readme }).failures).toHaveLength(1);
  });

  it('still fails where no test of the tier carries the id', () => {
    const browser = ran(['another page is shown', 'pending']);
    expect(judge({ ...sound, results: { ...RESULTS, browser } }).failures).toContain(
      'SEC1 is not proven in the tier browser: no test carries it.',
    );
  });

  it('does not excuse a single skipped test of a tier that ran', () => {
    const browser = ran(['a page is shown [SEC1]', 'pending'], ['another is shown', 'passed']);
    expect(judge({ ...sound, results: { ...RESULTS, browser } }).failures).toContain(
      'SEC1 is not proven in the tier browser: its tests were skipped.',
    );
  });
});

describe('the written table', () => {
  it('groups the ids in the order of the pages, and touches nothing outside its markers', () => {
    const lines = soundCheckout().readme.split('\n');
    expect(lines.map((line) => line.replace(/ {2,}/g, ' ').replace(/-{3,}/g, '---'))).toEqual([
      ...['Before', '', '<!-- coverage:begin -->', '', '6 ids: 2 proven, 1 partly, 3 planned.', ''],
      ...['### Proven', '', '| id | what | tiers |', '| --- | --- | --- |'],
      '| T1 | The debt is written with the message | db ✓ |',
      ...['| SEC1 | Matrix | browser ✓ |', ''],
      ...['### Partly', '', '| id | what | tiers and what is missing |', '| --- | --- | --- |'],
      '| IN1 | Authenticity over the raw bytes | unit ✓, db ✓; later: job retries |',
      ...['', '### Planned', '', '| id | what | comes with |', '| --- | --- | --- |'],
      '| BK1 | real slots | booking |',
      '| BK2 | one lead per slot | booking |',
      ...['| INV-1b | Reconciled | the reconciler |', '', '<!-- coverage:end -->', '', 'After', ''],
    ]);
  });
});
