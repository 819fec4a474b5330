import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../support/processes';

/** The short form of `npm run bench`: about a minute, all leads of all ways must be answered. */
describe('npm run bench -- --short', () => {
  let output = '';
  let code: number | null = null;
  beforeAll(async () => {
    const child = spawn(process.execPath, [join(ROOT, 'bench', 'start.mjs'), '--short'], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString('utf8');
      });
    }
    code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  }, 300_000);

  it('answers every lead of every way and ends well', () => {
    expect({ code, tail: code === 0 ? '' : output.slice(-2_000) }).toEqual({ code: 0, tail: '' });
  });

  it('loses and doubles nothing, and says what became of all [INV-10]', () => {
    const [ours] = output.split('\n').filter((line) => line.startsWith('Unsilent: answered'));
    expect(ours).toMatch(
      /answered \d+, handed over 0, unknown 0, no-answer 0; .*lost 0, doubled 0/,
    );
  });

  it('counts the billable actions of whole conversations: at most 12 and 16', () => {
    const actions = (name: string): number =>
      Number(new RegExp(`${name}:.*?\\s{2,}(\\d+)`).exec(output)?.[1] ?? Number.NaN);
    expect(actions('BENCH-A')).toBeLessThanOrEqual(12);
    expect(actions('BENCH-B')).toBeLessThanOrEqual(16);
  });
});
