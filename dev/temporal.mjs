/** Starts and stops the Temporal development server, for `npm start`, tests and benchmarks. */
import { rmSync, writeFileSync } from 'node:fs';
import { keep, lastLines } from './keep.mjs';
import { Refusal, runQuietly, waitFor } from './machine.mjs';
import { stopOrphanedTemporal } from './orphans.mjs';
import { findTemporalCli } from './tools.mjs';

/** The search attributes of `contract.md`. None of them is personal. */
export const SEARCH_ATTRIBUTES = {
  UnsilentBusiness: 'Keyword',
  UnsilentChannel: 'Keyword',
  UnsilentState: 'Keyword',
  UnsilentOwner: 'Keyword',
  UnsilentEscalated: 'Bool',
};

const READY_MS = 60_000;

/**
 * Starts a server on 127.0.0.1 and resolves when it serves and knows the search attributes.
 * `databaseFile` null keeps everything in memory; `uiPort` null leaves the Web UI out. With a
 * `pidFile`, a server that a killed run left behind is stopped first. `dynamicConfig` are the
 * server's own settings (limits, for tests).
 */
export async function startTemporal({ port, uiPort, logFile, ...options }) {
  const { databaseFile = null, pidFile = null, dynamicConfig = {} } = options;
  const cli = await findTemporalCli();
  if (pidFile) await stopOrphanedTemporal(pidFile);
  writeFileSync(logFile, '', { mode: 0o600 });
  const server = await keep({
    command: cli,
    args: [
      ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port)],
      ...['--log-level', 'warn', '--ui-disable-news-fetch'],
      ...(uiPort === null ? ['--headless'] : ['--ui-port', String(uiPort)]),
      ...(databaseFile ? ['--db-filename', databaseFile] : []),
      ...pairs('--search-attribute', SEARCH_ATTRIBUTES),
      ...pairs('--dynamic-config-value', dynamicConfig),
    ],
    env: plainEnvironment(),
    logFile,
    // The file holds what the workflows were told; others on this machine need not read it.
    umask: 0o077,
  });
  if (pidFile && server.pid) writeFileSync(pidFile, String(server.pid));
  const address = `127.0.0.1:${port}`;
  if (!(await untilReady(cli, address, server))) {
    await server.stop();
    throw new Refusal(
      `The Temporal server did not start; ${logFile} ends with:\n${lastLines(logFile)}`,
    );
  }
  const stop = async () => {
    await server.stop();
    if (pidFile) rmSync(pidFile, { force: true });
  };
  return { address, pid: server.pid, ended: server.ended, stop };
}

function pairs(flag, values) {
  return Object.entries(values).flatMap(([name, value]) => [flag, `${name}=${value}`]);
}

/** Profiles and TEMPORAL_* variables of the person describe other servers, not this one. */
function plainEnvironment() {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('TEMPORAL_'));
  return Object.fromEntries(kept);
}

async function untilReady(cli, address, server) {
  const list = [
    ...['operator', 'search-attribute', 'list', '--address', address, '--output', 'json'],
    ...['--disable-config-file', '--disable-config-env'],
  ];
  const result = await waitFor(
    async () => {
      if (server.ending()) return 'ended';
      const { code, output } = await runQuietly(cli, list, { env: plainEnvironment() });
      const knowsAll = Object.keys(SEARCH_ATTRIBUTES).every((name) => output.includes(name));
      return code === 0 && knowsAll ? 'ready' : null;
    },
    { timeoutMs: READY_MS },
  );
  return result === 'ready';
}
