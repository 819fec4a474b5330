import {
  OpenAPIRegistry,
  OpenApiGeneratorV31,
  type RouteConfig,
} from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';
import type { AnyEndpoint } from './endpoint';
import { ENDPOINTS } from './endpoints';
import { problemSchema } from './schemas';

export type OpenApiDocument = ReturnType<OpenApiGeneratorV31['generateDocument']>;

/** The OpenAPI 3.1 document of the staff API, made from the schemas that the routes parse with. */
export function openApiDocument(): OpenApiDocument {
  const registry = new OpenAPIRegistry();
  registry.registerComponent('securitySchemes', 'staffToken', { type: 'http', scheme: 'bearer' });
  for (const endpoint of ENDPOINTS) registry.registerPath(toRoute(endpoint));
  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'Unsilent staff API',
      version: '0.1.0',
      description:
        'Every answer that is not a success is `application/problem+json` with a stable `code`. Lists are paged by an opaque cursor.',
    },
    security: [{ staffToken: [] }],
  });
}

/** The document as it is served and committed. */
export function openApiText(): string {
  return `${JSON.stringify(openApiDocument(), null, 2)}\n`;
}

function toRoute(endpoint: AnyEndpoint): RouteConfig {
  const { method, operationId, summary, description } = endpoint;
  return {
    method,
    path: `/api${endpoint.path}`,
    operationId,
    summary,
    ...(description === undefined ? {} : { description }),
    request: {
      ...(endpoint.path.includes('{id}') ? { params: z.object({ id: z.string() }) } : {}),
      ...(endpoint.query instanceof z.ZodObject ? { query: endpoint.query } : {}),
      ...(endpoint.keyed === true ? { headers: z.object({ 'Idempotency-Key': KEY }) } : {}),
      ...(endpoint.body === undefined
        ? {}
        : { body: { content: { 'application/json': { schema: endpoint.body } } } }),
    },
    responses: {
      200: {
        description: 'Success',
        content: { [endpoint.answerType ?? 'application/json']: { schema: endpoint.answer } },
      },
      ...problemResponses({ ...endpoint.problems, ...COMMON_PROBLEMS }),
    },
  };
}

const KEY = z.string().max(200).meta({
  description: 'New for every action, the same when it is repeated: then it acts once.',
});

const COMMON_PROBLEMS: Readonly<Record<number, string>> = {
  401: 'unauthenticated',
  500: 'internal_error',
  503: 'unavailable, outcome_unknown',
};

function problemResponses(problems: Readonly<Record<number, string>>): RouteConfig['responses'] {
  return Object.fromEntries(
    Object.entries(problems).map(([status, codes]) => [
      status,
      {
        description: codes,
        content: { 'application/problem+json': { schema: problemSchema } },
      },
    ]),
  );
}
