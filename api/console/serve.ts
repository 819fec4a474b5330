import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import express, { Router, type Request, type RequestHandler } from 'express';
import helmet from 'helmet';

/** Stands in the built page where each answer's own nonce goes. */
const NONCE_MARK = '__STYLE_NONCE__';

export interface ConsoleOptions {
  /** The folder of the built console: `index.html` and `assets/`. */
  readonly webRoot: string;
}

/**
 * Serves the console: its assets, whose names change with their content, and the page itself for
 * every other address, because the console routes in the browser. Each page carries a fresh nonce
 * for styles in the policy and in a meta tag, so it is never cached (SEC6, SEC18).
 */
export function serveConsole({ webRoot }: ConsoleOptions): Router {
  const page = join(webRoot, 'index.html');
  const router = Router();
  router.use(
    '/assets',
    securityHeaders(null),
    express.static(join(webRoot, 'assets'), { immutable: true, maxAge: '1y', index: false }),
  );
  router.get('/{*path}', (request, response, next) => {
    if (!wantsPage(request) || !existsSync(page)) {
      next();
      return;
    }
    const nonce = randomBytes(16).toString('base64');
    securityHeaders(nonce)(request, response, (error?: unknown) => {
      if (error !== undefined) {
        next(error);
        return;
      }
      const html = readFileSync(page, 'utf8').replaceAll(NONCE_MARK, nonce);
      response.set('Cache-Control', 'no-store').type('html').send(html);
    });
  });
  return router;
}

/** A browser that opens an address; a missing picture or script is not answered with a page. */
function wantsPage(request: Request): boolean {
  const isFile = /\.[a-z0-9]+$/i.test(request.path) || request.path.startsWith('/assets/');
  return !isFile && request.accepts('html') === 'html';
}

function securityHeaders(nonce: string | null): RequestHandler {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'self'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'", ...(nonce === null ? [] : [`'nonce-${nonce}'`])],
        connectSrc: ["'self'"],
        imgSrc: ["'self'", 'data:'],
        objectSrc: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
      },
    },
  });
}
