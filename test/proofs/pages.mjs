/** What `docs/` defines: the ids of the spec and of the invariants, and the rows of the traps. */

const ENTRY_IN_LIST = /\*\*([A-Z]+-?\d+[a-z]?)(?=[ *])/g;
const ENTRY_IN_TABLE = /^\| (\*\*)?([A-Z]+-?\d+[a-z]?)(?: \|)?(.*)$/;
const CLAUSES = /^.{0,15}.*?(?=[;:]|\. | – |$)/;
const LONGEST_WORDS = 72;

/** The text without the marks of Markdown. */
export function plain(text) {
  return text.replace(/[*`\\]/g, '').trim();
}

/** The cells of one line of a Markdown table. */
function cellsOf(line) {
  const cells = line.split(/(?<!\\)\|/).slice(1, -1);
  return cells.map((cell) => cell.replaceAll('\\|', '|').trim());
}

/** The ids that a page defines, in its order, each with the short words it is known by. */
export function definedIds(page) {
  const ids = new Map();
  for (const line of page.split('\n')) {
    for (const [id, words] of entriesOf(line)) ids.set(id, words);
  }
  return ids;
}

function entriesOf(line) {
  if (line.startsWith('- **')) {
    const entries = [...line.matchAll(ENTRY_IN_LIST)];
    return entries.map((entry, position) => {
      const text = line.slice(entry.index + entry[0].length, entries[position + 1]?.index);
      return [entry[1], shortWords(`**${text.trim()}`)];
    });
  }
  const [, bold = '', id, text] = ENTRY_IN_TABLE.exec(line) ?? [];
  return id ? [[id, shortWords(bold + text.split('|')[0].trim())]] : [];
}

/** The bold heading that follows an id, or else as many clauses as say something. */
function shortWords(text) {
  const [, bold = '', rest = text] = /^\*\*(.*?)\*\*(.*)$/.exec(text) ?? [];
  const withoutAsides = (part) => plain(part.replace(/ ?\([^)]*\)/g, ''));
  const heading = withoutAsides(bold) || CLAUSES.exec(withoutAsides(rest))[0];
  const words = heading.replace(/[.:;,–\s]+$/, '');
  if (words.length <= LONGEST_WORDS) return words;
  return `${words.slice(0, words.lastIndexOf(' ', LONGEST_WORDS - 2)).replace(/,$/, '')} …`;
}

/** The first cell of each row of `docs/traps.md`: what went wrong. */
export function trapsOf(page) {
  return rowsOf(page).map(([wrong]) => plain(wrong));
}

/** The rows of the tables of a page, without their headings. */
export function rowsOf(page) {
  const lines = page.split('\n').filter((line) => line.startsWith('|'));
  const rule = (line) => line !== undefined && /^\|[\s|:-]+\|$/.test(line);
  const rows = lines.filter((line, position) => !rule(line) && !rule(lines[position + 1]));
  return rows.map(cellsOf);
}
