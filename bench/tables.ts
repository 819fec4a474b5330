/** A number of ms as a person reads it: one digit behind the point below 10, none above. */
export function ms(value: number): string {
  if (!Number.isFinite(value)) return '–';
  return value.toFixed(Math.abs(value) < 10 ? 1 : 0);
}

/** Joins parts with commas. */
export function line(parts: readonly string[]): string {
  return parts.join(', ');
}

/**
 * Aligns rows to columns: the first `left` to the left, the others to the right; a last column of
 * words may be named by its index and stays ragged.
 */
export function columns(rows: readonly (readonly string[])[], left: number, words = -1): string {
  const widths = (rows[0] ?? []).map((_, index) =>
    Math.max(...rows.map((row) => row[index]?.length ?? 0)),
  );
  return rows
    .map((row) => {
      const cells = row.map((cell, index) => {
        const width = widths[index] ?? 0;
        return index < left || index === words ? cell.padEnd(width) : cell.padStart(width);
      });
      return `  ${cells.join('  ')}`.trimEnd();
    })
    .join('\n');
}
