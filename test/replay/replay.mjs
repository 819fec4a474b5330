/**
 * Replays every recorded history against a workflow bundle: `node test/replay/replay.mjs BUNDLE`.
 * A change of the order of commands that is not guarded by `patched()` fails here, before it would
 * stop running conversations. Prints how many were replayed, or which failed and why.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import proto from '@temporalio/proto';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';

const { History } = proto.temporal.api.history.v1;

const [bundle] = process.argv.slice(2);
if (bundle === undefined) throw new Error('name the workflow bundle');

Runtime.install({ logger: new DefaultLogger('ERROR') });

const folder = import.meta.dirname;
const versions = readdirSync(folder, { withFileTypes: true }).filter((entry) =>
  entry.isDirectory(),
);
const files = versions.flatMap(({ name }) =>
  readdirSync(join(folder, name)).map((file) => join(name, file)),
);

async function* histories() {
  for (const file of files) {
    const { workflowId, history } = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    yield { workflowId: `${workflowId} of ${file}`, history: History.fromObject(history) };
  }
}

const failures = [];
const options = { workflowBundle: { codePath: bundle } };
for await (const { workflowId, error } of Worker.runReplayHistories(options, histories())) {
  if (error) failures.push(`${workflowId}: ${error.message}`);
}
for (const failure of failures) console.error(failure);
console.log(`${files.length} histories replayed, ${failures.length} failed`);
process.exitCode = failures.length === 0 && files.length > 0 ? 0 : 1;
