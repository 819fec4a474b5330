const FIRST = [
  'Robin',
  'Avery',
  'Jules',
  'Marta',
  'Devon',
  'Ines',
  'Casey',
  'Tariq',
  'Noor',
  'Leif',
  'Priya',
  'Odell',
  'Wren',
  'Mateo',
  'Sanna',
  'Kofi',
];
const LAST = [
  'Fields',
  'Okafor',
  'Lindqvist',
  'Marsh',
  'Delgado',
  'Whitlock',
  'Amari',
  'Novak',
  'Hale',
  'Castell',
  'Brandt',
  'Yoon',
  'Quill',
  'Ferris',
  'Tamsin',
  'Rourke',
];

const pick = (list) => list[Math.floor(Math.random() * list.length)];

/** A made-up name that is not among `taken`. */
export function suggestName(taken) {
  for (let tries = 0; tries < 50; tries += 1) {
    const name = `${pick(FIRST)} ${pick(LAST)}`;
    if (!taken.has(name)) return name;
  }
  return `${pick(FIRST)} ${pick(LAST)} ${taken.size + 1}`;
}

/** One or two letters for a round picture. */
export function initialsOf(name) {
  const words = name.trim().split(/\s+/);
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined];
  return letters
    .map((word) => Array.from(word ?? '')[0] ?? '')
    .join('')
    .toUpperCase();
}
