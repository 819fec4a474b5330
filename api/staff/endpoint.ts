import type { z } from 'zod';

/** One operation of the staff API, as it is parsed, answered and documented. */
export interface Endpoint<
  Query extends z.ZodType,
  Body extends z.ZodType,
  Answer extends z.ZodType,
> {
  readonly method: 'get' | 'post';
  /** The OpenAPI form below `/api`; `{id}` is what the path names before it. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly query?: Query;
  readonly body?: Body;
  /** True where the Idempotency-Key header is required. */
  readonly keyed?: boolean;
  readonly answer: Answer;
  readonly answerType?: 'application/json' | 'text/event-stream';
  /** What it may answer besides success and what every operation may answer: status to codes. */
  readonly problems?: Readonly<Record<number, string>>;
}

export type AnyEndpoint = Endpoint<z.ZodType, z.ZodType, z.ZodType>;

/** Declares an operation and keeps the types of its parts. */
export function defineEndpoint<
  Query extends z.ZodType = z.ZodUndefined,
  Body extends z.ZodType = z.ZodUndefined,
  Answer extends z.ZodType = z.ZodUndefined,
>(endpoint: Endpoint<Query, Body, Answer>): Endpoint<Query, Body, Answer> {
  return endpoint;
}

/** The path as the router reads it. */
export function pathOf(endpoint: AnyEndpoint): string {
  return endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1');
}
