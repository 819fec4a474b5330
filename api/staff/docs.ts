import { Router } from 'express';
import { openApiDocument, openApiText } from './openapi';
import { DOCS_STYLE, docsPage } from './docs-page';

/** `/openapi.json`, and `/docs`, the same for people: plain HTML without any script. */
export function makeDocsRouter(): Router {
  const router = Router();
  const json = openApiText();
  const html = docsPage(openApiDocument());
  router.get('/openapi.json', (_request, response) => {
    response.type('application/json').send(json);
  });
  router.get('/docs', (_request, response) => {
    const policy = "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'";
    response.set('Content-Security-Policy', policy).type('html').send(html);
  });
  router.get('/docs.css', (_request, response) => {
    response.type('css').send(DOCS_STYLE);
  });
  return router;
}
