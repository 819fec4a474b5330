/** Copies plain data to its depth. Faster than `structuredClone` for many small objects. */
export function cloneData<Data>(data: Data): Data {
  return copy(data) as Data;
}

function copy(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(copy);
  const made: Record<string, unknown> = {};
  for (const [key, part] of Object.entries(value)) made[key] = copy(part);
  return made;
}
