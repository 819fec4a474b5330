import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FAILPOINTS } from '../../config/failpoints';
import { ROOT } from '../support/processes';

interface Tour {
  readonly points: Readonly<Record<string, { readonly reached: boolean }>>;
  readonly lost: number;
  readonly doubled: number;
  readonly problems: readonly string[];
}

/**
 * `npm run chaos -- --points`: real processes with Temporal and a Postgres of their own, each
 * killed with SIGKILL once at each named point while leads write. One run serves all assertions.
 */
describe('a process killed at any named point', () => {
  const folder = mkdtempSync(join(tmpdir(), 'unsilent-failpoints-'));
  let tour: Tour | null = null;
  let output = '';

  beforeAll(async () => {
    const json = join(folder, 'tour.json');
    const args = ['test/chaos/start.mjs', '--points', '--no-build', '--json', json];
    const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString('utf8');
      });
    }
    await new Promise((resolve) => child.once('exit', resolve));
    tour = JSON.parse(readFileSync(json, 'utf8')) as Tour;
    // Three minutes on a quiet machine of two cores; others may share it.
  }, 1_500_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(FAILPOINTS)('dies there with SIGKILL, and the point is reached: %s [LV-4]', (point) => {
    expect(tour?.points[point]?.reached).toBe(true);
  });

  it('loses nobody and doubles nothing by the providers’ own ledgers [LV-4] [T11] [INV-1] [INV-10]', () => {
    expect({ lost: tour?.lost, doubled: tour?.doubled }).toEqual({ lost: 0, doubled: 0 });
  });

  it('leaves every invariant whole and every debt settled [LV-4] [INV-6] [INV-8]', () => {
    const problems = tour?.problems ?? [output.slice(-2_000)];
    expect(problems).toEqual([]);
  });
});
