import type { Client, Connection, Submittable } from 'pg';

/** The parts of the driver's connection that COPY needs and that its types leave out. */
interface CopyConnection extends Connection {
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/** Sends rows with COPY FROM STDIN. Rejects with what Postgres answers. */
export function copyOver(
  client: Client,
  table: string,
  rows: readonly Readonly<Record<string, unknown>>[],
): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  const lines = rows.map((row) => columns.map((column) => cell(row[column])).join(','));
  const text = `copy ${table} (${columns.join(', ')}) from stdin (format csv)`;
  return new Promise((resolve, reject) => {
    const copy = {
      submit: (connection: CopyConnection) => connection.query(text),
      handleCopyInResponse: (connection: CopyConnection) => {
        connection.sendCopyFromChunk(Buffer.from(`${lines.join('\n')}\n`));
        connection.endCopyFrom();
      },
      handleCommandComplete: () => undefined,
      handleError: reject,
      handleReadyForQuery: resolve,
    };
    client.query(copy as unknown as Submittable);
  });
}

/** A value as CSV; an unquoted empty cell is null. */
function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = Buffer.isBuffer(value)
    ? `\\x${value.toString('hex')}`
    : typeof value === 'string'
      ? value
      : JSON.stringify(value);
  return `"${text.replaceAll('"', '""')}"`;
}
