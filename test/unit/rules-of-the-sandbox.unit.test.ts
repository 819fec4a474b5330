import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');

/** One line of workflow code each, none of which may pass. */
const LINES = [
  ['the native Temporal.Now', 'export const now = Temporal.Now.instant();'],
  ['performance.now', 'export const stamp = performance.now();'],
  ['crypto.randomUUID', 'export const id = crypto.randomUUID();'],
  ['the environment', 'export const home = process.env;'],
  ['the locale of the host', 'export const format = new Intl.DateTimeFormat();'],
  ['a Node built-in', "export { readFileSync } from 'node:fs';"],
] as const;

interface Report {
  readonly messages: readonly { readonly line: number; readonly ruleId: string | null }[];
}

describe('what the workflow sandbox cannot make deterministic', () => {
  let reports: Report[];
  beforeAll(() => {
    const file = join(ROOT, 'workflows', 'details.ts');
    const eslint = join(ROOT, 'node_modules', 'eslint', 'bin', 'eslint.js');
    const { stdout } = spawnSync(
      process.execPath,
      [eslint, '--format', 'json', '--stdin', '--stdin-filename', file],
      { cwd: ROOT, encoding: 'utf8', input: LINES.map(([, code]) => `${code}\n`).join('') },
    );
    reports = JSON.parse(stdout) as Report[];
  }, 60_000);

  it.each(LINES.map(([what], index) => [what, index + 1] as const))(
    '%s is refused by lint in workflow code [O3]',
    (_what, line) => {
      const rules = reports
        .flatMap((report) => report.messages)
        .filter((message) => message.line === line)
        .map((message) => message.ruleId ?? '');
      expect(rules.some((rule) => rule.startsWith('no-restricted'))).toBe(true);
    },
  );
});
