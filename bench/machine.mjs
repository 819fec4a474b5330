/** What the figures were measured on. */
import { createRequire } from 'node:module';
import { cpus, totalmem } from 'node:os';
import { findTemporalCli } from '../dev/tools.mjs';
import { runQuietly } from '../dev/machine.mjs';
import { CAN_MEASURE_CPU } from './cpu.mjs';

const require = createRequire(import.meta.url);
const COMMITS = 200;

/** How long one commit takes here, one after the other: the speed of the disk behind fsync. */
async function measureCommits(adminUrl) {
  const { Client } = require('pg');
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  await client.query('create table if not exists bench_commits (id int)');
  const samples = [];
  for (let count = 0; count < COMMITS; count += 1) {
    const startedAt = performance.now();
    await client.query('insert into bench_commits values (1)');
    samples.push(performance.now() - startedAt);
  }
  const { rows } = await client.query(
    `select current_setting('server_version') as version, current_setting('fsync') as fsync`,
  );
  await client.end();
  samples.sort((left, right) => left - right);
  const commit = { p50: samples[COMMITS / 2], p99: samples[Math.floor(COMMITS * 0.99)] };
  return { ...rows[0], commit };
}

export async function describeMachine({ postgres }) {
  const { output } = await runQuietly(await findTemporalCli(), ['--version']);
  return {
    cores: cpus().length,
    processor: cpus()[0]?.model ?? 'unknown',
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
    temporal: output.trim(),
    canMeasureCpu: CAN_MEASURE_CPU,
    postgres: await measureCommits(postgres.url),
  };
}
