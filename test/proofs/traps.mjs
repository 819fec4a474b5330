/** Checks `test/traps.md`: each row of `docs/traps.md` has its test, or the later work. */
import { plain, trapsOf } from './pages.mjs';

const LATER = /^later: (.*)$/;
const ITEM = /^( *)- (.*)$/;

/** A sentence for each trap that is mapped to nothing, to more than one row, or to no passed test. */
export function trapFaults(map, page, tests) {
  const traps = trapsOf(page);
  const rows = mappedRows(map);
  return [
    ...rows.flatMap((row) => faultOfWords(row.words, traps)),
    ...traps.flatMap((trap) => faultOfTrap(trap, rows)),
    ...rows.flatMap(({ words, targets }) =>
      (targets.length > 0 ? targets : ['later: ?']).flatMap((target) =>
        faultOfTarget(words, target, tests),
      ),
    ),
  ];
}

/** The list of traps.md: the first words of a trap, and below them what it is mapped to. */
function mappedRows(map) {
  const rows = [];
  for (const [, indent, text] of map.split('\n').flatMap((line) => [ITEM.exec(line) ?? []])) {
    if (indent === '') rows.push({ words: plain(text), targets: [] });
    else if (indent) rows.at(-1)?.targets.push(text.trim());
  }
  return rows;
}

function faultOfWords(words, traps) {
  const found = traps.filter((trap) => trap.startsWith(words)).length;
  if (found === 1) return [];
  const many = found === 0 ? 'no row' : `${found} rows`;
  return [`test/traps.md: "${words}" begins ${many} of docs/traps.md.`];
}

function faultOfTrap(trap, rows) {
  const found = rows.filter(({ words }) => trap.startsWith(words)).length;
  if (found === 1) return [];
  const fault = found === 0 ? 'lacks' : `has ${found} rows for`;
  return [`test/traps.md ${fault} the trap "${trap}"`];
}

function faultOfTarget(words, target, tests) {
  const [, area] = LATER.exec(target) ?? [];
  if (area !== undefined) {
    return /\w/.test(area) ? [] : [`test/traps.md: "${words}" has no test and no later work yet.`];
  }
  const [, title] = /^`(.+)`$/.exec(target) ?? [];
  if (!title) return [`test/traps.md: "${words}" needs \`the title of a test\` or later: an area.`];
  const found = tests.filter((test) => test.fullName === title || test.title === title);
  if (found.length === 0) return [`test/traps.md: no test has the title "${title}".`];
  const good = found.every(({ passed, skippedTier }) => passed || skippedTier);
  return good ? [] : [`test/traps.md: the test "${title}" has not passed.`];
}
