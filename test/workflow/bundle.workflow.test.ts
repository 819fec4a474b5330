import { readFileSync } from 'node:fs';

/** The folders of which code may stand in the bundle, by the import borders. */
const ALLOWED = /^\.\/(workflows|domain)\//;

describe('the workflow bundle', () => {
  const bundle = readFileSync(process.env['TEST_WORKFLOW_BUNDLE'] ?? '', 'utf8');

  it('holds code of workflows/ and domain/ only: no database, no channel, no activity [O3]', () => {
    const modules = [...bundle.matchAll(/"(\.\/[a-z-]+\/[a-z-]+\.ts)"/g)].map((match) => match[1]);
    expect(modules).toContain('./workflows/conversation.ts');
    expect(modules.filter((name) => name !== undefined && !ALLOWED.test(name))).toEqual([]);
  });

  it('asks for no built-in of Node [O3]', () => {
    expect(bundle).not.toMatch(/require\("node:|require\("(fs|net|crypto|pg)"\)/);
  });
});
