import express, { Router, type RequestHandler } from 'express';
import type { Pool } from 'pg';
import { z } from 'zod';
import {
  STAFF_COMMANDS,
  type StaffCommand,
  type StaffCommandRequest,
  type StaffCommandResult,
} from '../../db/commands/contract';
import type { WakeTarget } from '../../db/due';
import { readAsStaff } from '../../db/queries/staff-reading';
import { problemHandler, ProblemError, sendProblem, type ProblemLog } from '../problem';
import { authenticate, type Caller } from './caller';
import { refusalProblem } from './commands';
import { makeDocsRouter } from './docs';
import type { AnyEndpoint, Endpoint } from './endpoint';
import {
  commandEndpoint,
  eventsEndpoint,
  listConversationsEndpoint,
  listDeliveriesEndpoint,
  listEscalationsEndpoint,
  readConversationEndpoint,
  readTimelineEndpoint,
} from './endpoints';
import type { EventStream } from './events';
import { bodyOf, conversationIdOf, idempotencyKeyOf, NOT_FOUND, parse } from './parsing';
import {
  conversationDetail,
  conversationList,
  conversationTimeline,
  deliveryList,
  escalationList,
  type Reading,
} from './reads';

export interface StaffApiDependencies {
  /** Connects as the staff role: row-level security keeps businesses apart. */
  readonly staffPool: Pool;
  /** Connects as the service role; looks up tokens. */
  readonly tokenPool: Pool;
  readonly runCommand: (request: StaffCommandRequest) => Promise<StaffCommandResult>;
  /** Wakes the conversation's workflow; must not throw. */
  readonly wake: (target: WakeTarget) => void;
  readonly events: EventStream;
  readonly log: ProblemLog;
}

/** The staff API, to be mounted at `/api`. It answers everything below that itself. */
export function makeStaffRouter(dependencies: StaffApiDependencies): Router {
  const router = Router();
  router.use((_request, response, next) => {
    response.set({
      'Cache-Control': 'no-store',
      'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
      'X-Content-Type-Options': 'nosniff',
    });
    next();
  });
  router.use(makeDocsRouter());
  router.use(express.json({ limit: '64kb' }));
  addReads(router, dependencies);
  for (const command of STAFF_COMMANDS) addCommand(router, dependencies, command);
  router.get(pathOf(eventsEndpoint), async (request, response) => {
    const { businessId } = await authenticate(dependencies.tokenPool, request);
    await dependencies.events.serve(request, response, businessId);
  });
  router.use((_request, response) => {
    sendProblem(response, NOT_FOUND);
  });
  router.use(problemHandler(dependencies.log));
  return router;
}

function pathOf(endpoint: AnyEndpoint): string {
  return endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1');
}

function addReads(router: Router, dependencies: StaffApiDependencies): void {
  const list = <Query extends z.ZodType, Answer extends z.ZodType>(
    endpoint: Endpoint<Query, z.ZodUndefined, Answer>,
    read: (reading: Reading, query: z.output<Query>) => Promise<z.input<Answer>>,
  ) => {
    router.get(pathOf(endpoint), async (request, response) => {
      const caller = await authenticate(dependencies.tokenPool, request);
      if (endpoint.query === undefined) throw new Error(`${endpoint.operationId} has no query`);
      const query = parse(endpoint.query, request.query);
      response.json(await reading(dependencies, caller, (inside) => read(inside, query)));
    });
  };
  const one = <Answer extends z.ZodType>(
    endpoint: Endpoint<z.ZodUndefined, z.ZodUndefined, Answer>,
    read: (reading: Reading, conversationId: string) => Promise<z.input<Answer>>,
  ) => {
    router.get(pathOf(endpoint), async (request, response) => {
      const caller = await authenticate(dependencies.tokenPool, request);
      const id = conversationIdOf(request);
      response.json(await reading(dependencies, caller, (inside) => read(inside, id)));
    });
  };
  list(listConversationsEndpoint, conversationList);
  one(readConversationEndpoint, conversationDetail);
  one(readTimelineEndpoint, conversationTimeline);
  list(listEscalationsEndpoint, escalationList);
  list(listDeliveriesEndpoint, deliveryList);
}

function reading<Result>(
  { staffPool }: StaffApiDependencies,
  { businessId }: Caller,
  read: (reading: Reading) => Promise<Result>,
): Promise<Result> {
  return readAsStaff(staffPool, businessId, (client) => read({ client, businessId }));
}

function addCommand(
  router: Router,
  dependencies: StaffApiDependencies,
  command: StaffCommand,
): void {
  const endpoint = commandEndpoint(command);
  const handler: RequestHandler = async (request, response) => {
    const { businessId, role } = await authenticate(dependencies.tokenPool, request);
    const conversationId = conversationIdOf(request);
    const idempotencyKey = idempotencyKeyOf(request);
    const { seenSeq } = parse(endpoint.body ?? z.never(), bodyOf(request));
    const result = await dependencies.runCommand({
      businessId,
      role,
      command,
      conversationId,
      idempotencyKey,
      seenSeq: seenSeq ?? null,
    });
    if (result.kind === 'refused') throw new ProblemError(refusalProblem(result));
    if (result.wake !== null) dependencies.wake(result.wake);
    response.json(result.response);
  };
  router.post(pathOf(endpoint), handler);
}
