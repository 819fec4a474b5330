import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const OPS = join(__dirname, '..', '..', 'ops');

/** Prometheus' own program; where it is not installed, these tests are skipped and say so. */
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
const itWithPromtool = hasPromtool ? it : it.skip;

describe('the alert rules', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'unsilent-alerts-'));
    cpSync(OPS, folder, { recursive: true });
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const test = () =>
    spawnSync('promtool', ['test', 'rules', join(folder, 'alerts.test.yml')], { encoding: 'utf8' });

  itWithPromtool('fire on the samples on which they must, and on no other [T9] [C9]', () => {
    const { status, stdout, stderr } = test();
    expect([status, `${stdout}${stderr}`]).toEqual([0, expect.stringContaining('SUCCESS')]);
  });

  itWithPromtool.each([
    ['exactly 600 s', '> 600\n', '>= 600\n'],
    ['one period', 'max(unsilent_oldest_owed_reply_age_seconds offset 5m) > 600', 'vector(1)'],
    ['two periods that are not consecutive', 'offset 5m', 'offset 10m'],
    [
      'a series that is not missing',
      'absent(unsilent_oldest',
      'vector(1) unless (unsilent_missing',
    ],
  ])('are tested: a rule that would fire on %s is noticed [T9]', (_what, right, wrong) => {
    const path = join(folder, 'alerts.yml');
    const rules = readFileSync(path, 'utf8');
    expect(rules).toContain(right);
    writeFileSync(path, rules.replaceAll(right, wrong));
    expect(test().status).not.toBe(0);
  });
});
