import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { serveConsole } from '../../../api/console/serve';
import { serve, type Served } from './serving';

const PAGE = '<meta name="style-nonce" content="__STYLE_NONCE__"><p>console</p>';

describe('the console', () => {
  let folder: string;
  let served: Served;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'unsilent-console-'));
    mkdirSync(join(folder, 'assets'));
    writeFileSync(join(folder, 'index.html'), PAGE);
    writeFileSync(join(folder, 'assets', 'main-1a2b.js'), 'export {};');
    writeFileSync(join(folder, 'secret.txt'), 'not for anybody');
    const app = express();
    app.use(serveConsole({ webRoot: folder }));
    served = await serve(app);
  });
  afterAll(async () => {
    await served.close();
    rmSync(folder, { recursive: true });
  });

  const get = (path: string, accept = 'text/html') =>
    fetch(`${served.url}${path}`, { headers: { Accept: accept } });

  it.each(['/', '/conversations/cnv_1', '/sign-in?x=1'])(
    '%s is the page, with a nonce of its own in policy and page, never cached [SEC6] [SEC18]',
    async (path) => {
      const [first, second] = await Promise.all([get(path), get(path)]);
      const policy = first.headers.get('content-security-policy') ?? '';
      const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? 'none';
      expect(Buffer.from(nonce, 'base64')).toHaveLength(16);
      expect(await first.text()).toBe(PAGE.replace('__STYLE_NONCE__', nonce));
      expect(await second.text()).not.toContain(nonce);
      expect(first.headers.get('cache-control')).toBe('no-store');
    },
  );

  it('allows scripts, styles and calls from itself alone, nothing inline, and no frame [SEC6] [SEC18]', async () => {
    const policy = (await get('/')).headers.get('content-security-policy') ?? '';
    const directives = policy.split(';').map((part) => part.replace(/'nonce-[^']+'/, "'nonce'"));
    expect(directives).toEqual([
      "default-src 'self'",
      "script-src 'self'",
      "style-src 'self' 'nonce'",
      "connect-src 'self'",
      "img-src 'self' data:",
      "object-src 'none'",
      "base-uri 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
    ]);
  });

  it('serves assets, whose names change with their content, for a year', async () => {
    const asset = await get('/assets/main-1a2b.js', '*/*');
    expect(asset.status).toBe(200);
    expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(asset.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it.each([
    ['/assets/missing.js', '*/*'],
    ['/favicon.ico', 'image/*'],
    ['/secret.txt', 'text/html'],
    ['/assets/../secret.txt', 'text/html'],
    ['/assets/%2e%2e/secret.txt', 'text/html'],
    ['/conversations', 'application/json'],
  ])('%s for %s is not answered with the page or a foreign file', async (path, accept) => {
    expect((await get(path, accept)).status).toBe(404);
  });
});
