import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporal } from '@temporalio/proto';

const { History } = temporal.api.history.v1;

const REPLAY = join(__dirname, '..', 'replay');

/** `npm run histories` sets it: every history that a test replays is then kept. */
function isRecording(): boolean {
  return process.env['RECORD_HISTORIES'] === '1';
}

/**
 * Keeps a history under the product's version and the test's name, so that later versions replay
 * it (O3). Without `RECORD_HISTORIES=1` it does nothing.
 */
export function keepHistory(workflowId: string, history: temporal.api.history.v1.IHistory): void {
  if (!isRecording()) return;
  const folder = join(REPLAY, productVersion());
  mkdirSync(folder, { recursive: true });
  const plain = History.toObject(History.fromObject(history), {
    enums: String,
    longs: String,
    bytes: String,
  });
  // Whose machine it was says nothing: stack traces start at the project, workers have no name.
  const text = JSON.stringify({ workflowId, history: plain })
    .replaceAll(`${join(REPLAY, '..', '..')}/`, '')
    .replaceAll(/"identity":"[^"]*"/g, '"identity":"recorder"');
  writeFileSync(join(folder, `${testSlug()}.json`), `${text}\n`);
}

function productVersion(): string {
  const text = readFileSync(join(REPLAY, '..', '..', 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

const written = new Map<string, number>();

/** One test may replay several conversations; the second one gets a number. */
function testSlug(): string {
  const name = expect.getState().currentTestName ?? 'history';
  const slug = name
    .toLowerCase()
    .replaceAll(/\[[^\]]*\]/g, ' ')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 90);
  const count = (written.get(slug) ?? 0) + 1;
  written.set(slug, count);
  return count === 1 ? slug : `${slug}-${count}`;
}
