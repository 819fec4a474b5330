import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort, ROOT, waitUntil } from '../support/processes';

interface Started {
  readonly child: ChildProcess;
  readonly lines: string[];
  readonly ended: Promise<number | null>;
}

const PORTS = ['PORT', 'SANDBOX_PORT', 'DATABASE_PORT', 'TEMPORAL_PORT', 'TEMPORAL_UI_PORT'];

describe('npm start', () => {
  const home = mkdtempSync(join(tmpdir(), 'unsilent-start-'));
  const env: NodeJS.ProcessEnv = { PATH: process.env['PATH'], HOME: process.env['HOME'] };
  const all: Started[] = [];
  beforeAll(async () => {
    for (const name of PORTS) env[name] = String(await freePort());
    env['UNSILENT_HOME'] = join(home, 'data');
    env['UNSILENT_TEMPORAL_CLI'] = process.env['UNSILENT_TEMPORAL_CLI'];
  });
  afterAll(async () => {
    for (const one of all) one.child.kill('SIGTERM');
    await Promise.all(all.map((one) => one.ended));
    rmSync(home, { recursive: true, force: true });
  });

  function start(extra: NodeJS.ProcessEnv = {}): Started {
    const child = spawn(process.execPath, [join(ROOT, 'dev', 'start.mjs')], {
      cwd: ROOT,
      env: { ...env, ...extra },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const lines: string[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => lines.push(line));
    }
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    const started = { child, lines, ended };
    all.push(started);
    return started;
  }

  const ready = (started: Started) =>
    waitUntil(
      `it is ready, and not: ${started.lines.slice(-5).join(' / ')}`,
      () => Promise.resolve(started.lines.includes('unsilent ready')),
      120_000,
    );

  async function askPhone(lead: string): Promise<string> {
    const phone = `http://127.0.0.1:${env['SANDBOX_PORT'] ?? ''}/phone/messenger`;
    await fetch(`${phone}/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ lead, text: 'My water heater is leaking, 60614' }),
    });
    return waitUntil('the phone shows an answer', async () => {
      const response = await fetch(`${phone}/threads/${lead}`);
      const entries = (await response.json()) as { from: string; text: string }[];
      return entries.find((entry) => entry.from === 'business')?.text ?? null;
    });
  }

  it('answers a lead, survives kill -9, starts again with its data, and stops on Ctrl-C [R6]', async () => {
    const first = start();
    await ready(first);
    expect(await askPhone('Robin')).toContain('water heater');
    first.child.kill('SIGKILL');
    await first.ended;
    const second = start();
    await ready(second);
    expect(await askPhone('Sam')).toContain('water heater');
    second.child.kill('SIGINT');
    expect(await second.ended).toBe(0);
    const refused = await fetch(`http://127.0.0.1:${env['PORT'] ?? ''}/healthz`).catch(() => null);
    expect(refused).toBeNull();
  });

  it('says in one sentence which port is in use and how to choose another', async () => {
    const taken = createServer();
    const port = Number(env['PORT']);
    await new Promise<void>((resolve) => taken.listen(port, '127.0.0.1', resolve));
    const started = start();
    expect(await started.ended).toBe(1);
    await new Promise((resolve) => taken.close(resolve));
    const said = started.lines.filter((line) => line.includes(String(port)));
    expect(said).toHaveLength(1);
    expect(said[0]).toContain('PORT');
  });
});
