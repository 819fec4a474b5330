import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENDPOINTS } from '../../../api/staff/endpoints';
import { docsPage } from '../../../api/staff/docs-page';
import { openApiDocument, openApiText } from '../../../api/staff/openapi';
import { apiTypes } from '../../../web/scripts/api-types';

const ROOT = join(__dirname, '..', '..', '..');
const DOCUMENT = join(ROOT, 'docs', 'openapi.json');
const TYPES = join(ROOT, 'web', 'src', 'generated', 'api.ts');

/** Run with this variable set, the test writes both files instead of comparing them. */
const UPDATES = process.env['UPDATE_API_FILES'] !== undefined;
const HINT = 'UPDATE_API_FILES=1 npx jest test/unit/api/openapi --selectProjects unit';

/** Prettier loads its parsers by `import()`, which jest cannot; its program can. */
function format(path: string, text: string): string {
  const program = join(ROOT, 'node_modules', 'prettier', 'bin', 'prettier.cjs');
  const args = [program, '--stdin-filepath', path];
  return execFileSync(process.execPath, args, { cwd: ROOT, input: text, encoding: 'utf8' });
}

function current(path: string): string {
  const json = openApiText();
  return format(path, path === DOCUMENT ? json : apiTypes(JSON.parse(json)));
}

describe('the OpenAPI document', () => {
  it.each([
    ['document', DOCUMENT],
    ['types made from it', TYPES],
  ])('is committed as it is served: the %s', (_name, path) => {
    const wanted = current(path);
    if (UPDATES) writeFileSync(path, wanted);
    const committed = readFileSync(path, 'utf8');
    expect(committed === wanted ? 'up to date' : `stale; run ${HINT}`).toBe('up to date');
  });

  it('is version 3.1 and names every operation once', () => {
    const document = openApiDocument();
    const ids = Object.values(document.paths ?? {}).flatMap((item) =>
      [item.get, item.post].flatMap((operation) => operation?.operationId ?? []),
    );
    expect(document.openapi).toBe('3.1.0');
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toHaveLength(ENDPOINTS.length);
  });

  it('requires the Idempotency-Key of every write', () => {
    const posts = Object.values(openApiDocument().paths ?? {}).flatMap((item) => item.post ?? []);
    expect(posts.length).toBeGreaterThan(0);
    for (const post of posts) {
      expect(post.parameters).toContainEqual(
        expect.objectContaining({ in: 'header', name: 'Idempotency-Key', required: true }),
      );
    }
  });

  it('is shown as a page without scripts, in which every text is escaped [SEC6]', () => {
    const document = openApiDocument();
    const page = docsPage({
      ...document,
      info: { ...document.info, title: '<img src=x onerror=alert(1)>' },
    });
    expect(page).not.toContain('<script');
    expect(page).not.toContain('<img');
    expect(page).toContain('&lt;img');
    for (const { path } of ENDPOINTS) expect(page).toContain(`/api${path}`);
  });
});

describe('the types of the console', () => {
  it('refuse a schema that they do not know, instead of typing it wrongly', () => {
    expect(() =>
      apiTypes({ components: { schemas: { Odd: { not: { type: 'string' } } } } }),
    ).toThrow('does not know');
  });
});
