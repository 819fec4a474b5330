/** Draws decisions from a seed, so that a run can be repeated with the same ones. */
export interface Seeded {
  /** A number in [0, 1). */
  random(): number;
  pick<Item>(items: readonly Item[]): Item;
  /** A copy in drawn order. */
  shuffled<Item>(items: readonly Item[]): Item[];
  /** An item, each as often as its weight says. */
  weighted<Item>(items: readonly (readonly [Item, number])[]): Item;
}

/** Mulberry32: small, and good enough for decisions. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Makes the source of one kind of decisions; `stream` keeps kinds apart. */
export function makeSeeded(seed: number, stream: number): Seeded {
  const random = mulberry32(seed * 1_000_003 + stream);
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[Math.floor(random() * items.length)];
    if (item === undefined) throw new Error('there is nothing to pick from');
    return item;
  };
  return {
    random,
    pick,
    shuffled: (items) =>
      items
        .map((item) => ({ item, at: random() }))
        .sort((left, right) => left.at - right.at)
        .map(({ item }) => item),
    weighted: (items) => {
      const total = items.reduce((sum, [, weight]) => sum + weight, 0);
      let left = random() * total;
      for (const [item, weight] of items) {
        left -= weight;
        if (left < 0) return item;
      }
      return pick(items)[0];
    },
  };
}
