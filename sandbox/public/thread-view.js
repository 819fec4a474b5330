import { byId, clockTime, dayOf, make } from './dom.js';

const AUTHORS = {
  staff: "Staff, in the provider's own app",
  'other-app': 'Another app of the business',
  provider: 'Automatic answer of the phone network',
};
const MARKS = { sent: '✓ sent', delivered: '✓✓ delivered', read: '✓✓ read' };

/** What the phone knows about the way of a message. */
function markOf(entry) {
  if (entry.pending) return 'Sending…';
  if (entry.from === 'business') return MARKS[entry.status] ?? '';
  if (entry.webhookStatus === undefined) return '';
  return entry.webhookStatus >= 200 && entry.webhookStatus < 300
    ? '✓ delivered'
    : '! not delivered yet';
}

function metaOf(entry) {
  const edited = entry.edits > 0 ? 'edited · ' : '';
  const mark = markOf(entry);
  return `${edited}${clockTime(entry.at)}${mark === '' ? '' : ` · ${mark}`}`;
}

function classOf(entry) {
  const failed = entry.from === 'lead' && markOf(entry).startsWith('!');
  const names = [
    'bubble',
    entry.from,
    entry.author,
    entry.deleted && 'deleted',
    failed && 'failed',
  ];
  return names.filter(Boolean).join(' ');
}

function bubble(entry) {
  const side = entry.from === 'lead' ? 'You' : 'The business';
  const author = AUTHORS[entry.author];
  const text = entry.deleted ? 'Message withdrawn' : entry.text;
  const children = [
    make('span', { class: 'visually-hidden' }, [`${side}: `]),
    ...(author === undefined ? [] : [make('span', { class: 'author' }, [author])]),
    ...(entry.media ?? []).map((kind) => make('span', { class: 'attachment' }, [kind])),
    make('span', { class: 'text' }, [text]),
    make('span', { class: 'meta' }, [metaOf(entry)]),
    ...(entry.reaction === undefined
      ? []
      : [make('span', { class: 'reaction' }, [entry.reaction])]),
  ];
  const testId = entry.from === 'lead' ? 'bubble-lead' : 'bubble-business';
  return make(
    'li',
    { class: classOf(entry), 'data-testid': testId, 'data-id': entry.providerMessageId },
    children,
  );
}

const signatureOf = (entry) => JSON.stringify(entry);

/** Only what changed is replaced, so that a screen reader hears new messages and nothing else. */
function rowsOf(entries) {
  let day = '';
  return entries.flatMap((entry) => {
    const rows = [
      { key: entry.providerMessageId, signature: signatureOf(entry), make: () => bubble(entry) },
    ];
    const own = dayOf(entry.at);
    if (own === day) return rows;
    day = own;
    return [
      { key: `day ${own}`, signature: own, make: () => make('li', { class: 'day' }, [own]) },
      ...rows,
    ];
  });
}

function emptyRow(lead) {
  const text = `${lead} has not written yet. Write the first message below.`;
  return { key: 'empty', signature: text, make: () => make('li', { class: 'empty' }, [text]) };
}

/** Draws a thread into the phone and keeps the newest message in view. */
export function showThread(lead, entries) {
  const thread = byId('thread');
  const nearEnd = thread.scrollHeight - thread.scrollTop - thread.clientHeight < 120;
  const switched = thread.dataset.lead !== lead;
  if (switched) thread.replaceChildren();
  thread.dataset.lead = lead;
  const rows = entries.length === 0 ? [emptyRow(lead)] : rowsOf(entries);
  const shown = new Map([...thread.children].map((element) => [element.dataset.key, element]));
  const elements = rows.map((row) => {
    const known = shown.get(row.key);
    if (known !== undefined && known.dataset.signature === row.signature) return known;
    const element = row.make();
    element.dataset.key = row.key;
    element.dataset.signature = row.signature;
    return element;
  });
  const unchanged =
    elements.length === thread.children.length &&
    elements.every((element, index) => element === thread.children[index]);
  if (unchanged) return;
  placeInOrder(thread, elements);
  if (nearEnd || switched) thread.scrollTop = thread.scrollHeight;
}

function placeInOrder(parent, elements) {
  const wanted = new Set(elements);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  for (const [index, element] of elements.entries()) {
    const there = parent.children[index];
    if (there !== element) parent.insertBefore(element, there ?? null);
  }
}
