/** The coverage table of README.md: written from the rows, and read back for its ticks. */
import { rowsOf } from './pages.mjs';
import { TIERS } from './results.mjs';

const BEGIN = '<!-- coverage:begin -->';
const END = '<!-- coverage:end -->';
const SECTION = new RegExp(`(?<=${BEGIN}\\n)[^]*?(?=${END})`);
const MARK = new RegExp(`(${TIERS.join('|')}) ([✓✗–])`, 'g');

const GROUPS = [
  { name: 'proven', heading: 'tiers', text: ({ marks }) => marksText(marks) },
  { name: 'partly', heading: 'tiers and what is missing', text: partlyText },
  { name: 'planned', heading: 'comes with', text: ({ planned }) => planned },
];

function groupOf({ planned, later, marks }) {
  if (planned) return 'planned';
  return later || marks.some(({ mark }) => mark !== '✓') ? 'partly' : 'proven';
}

function marksText(marks) {
  return marks.map(({ tier, mark }) => `${tier} ${mark}`).join(', ');
}

function partlyText({ marks, later }) {
  return marksText(marks) + (later ? `; later: ${later}` : '');
}

/** The table as it stands between the markers; null where README.md has none. */
export function writtenSection(readme) {
  return SECTION.exec(readme)?.[0] ?? null;
}

/** README.md with another table between the markers. */
export function withSection(readme, section) {
  return readme.replace(SECTION, () => section);
}

/** The marks of the written table, by id and tier. */
export function writtenMarks(section) {
  const rows = rowsOf(section);
  return new Map(rows.map(([id, , text = '']) => [id, marksIn(text)]));
}

function marksIn(text) {
  return Object.fromEntries([...text.matchAll(MARK)].map(([, tier, mark]) => [tier, mark]));
}

/** The whole section: totals, then one table for each group, padded as the formatter pads it. */
export function renderSection(rows) {
  const groups = GROUPS.map((group) => ({
    ...group,
    rows: rows.filter((row) => groupOf(row) === group.name),
  }));
  const counts = groups.map((group) => `${group.rows.length} ${group.name}`).join(', ');
  const filled = groups.filter((group) => group.rows.length > 0);
  return [`\n${rows.length} ids: ${counts}.\n`, ...filled.map(renderGroup)].join('\n') + '\n';
}

function renderGroup({ name, heading, text, rows }) {
  const title = `### ${name[0].toUpperCase()}${name.slice(1)}`;
  const cells = [['id', 'what', heading], ...rows.map((row) => [row.id, row.what, text(row)])];
  const escaped = cells.map((line) => line.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = [0, 1, 2].map((column) => Math.max(...escaped.map((line) => line[column].length)));
  const line = (cellsOfLine, fill) =>
    `| ${cellsOfLine.map((cell, column) => cell.padEnd(widths[column], fill)).join(' | ')} |`;
  const [head, ...body] = escaped;
  const lines = [line(head, ' '), line(['', '', ''], '-'), ...body.map((row) => line(row, ' '))];
  return `${title}\n\n${lines.join('\n')}\n`;
}

/** The ids whose row stands differently in two sections. */
export function differingIds(section, other) {
  const [left, right] = [section, other].map(rowsById);
  return [...new Set([...left.keys(), ...right.keys()])].filter(
    (id) => left.get(id) !== right.get(id),
  );
}

function rowsById(section) {
  return new Map(rowsOf(section).map((row) => [row[0], row.join('|')]));
}
