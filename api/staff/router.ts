import express, { Router } from 'express';
import type { Pool } from 'pg';
import type { z } from 'zod';
import { readAsStaff } from '../../db/queries/staff-reading';
import { problemHandler, sendProblem, type ProblemLog } from '../problem';
import { auditReport, readAuditEndpoint } from './audit';
import { authenticate, type Caller } from './caller';
import { makeDocsRouter } from './docs';
import { pathOf, type Endpoint } from './endpoint';
import {
  eventsEndpoint,
  listConversationsEndpoint,
  listDeliveriesEndpoint,
  listEscalationsEndpoint,
  readConversationEndpoint,
  readEvidenceEndpoint,
  readTimelineEndpoint,
} from './endpoints';
import type { EventStream } from './events';
import { idOf, NOT_FOUND, parse } from './parsing';
import {
  conversationDetail,
  conversationEvidence,
  conversationList,
  conversationTimeline,
  deliveryList,
  escalationList,
  type Reading,
} from './reads';
import { addWrites, type WriteDependencies } from './writes';

export interface StaffApiDependencies extends WriteDependencies {
  /** Connects as the staff role: row-level security keeps businesses apart. */
  readonly staffPool: Pool;
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
  addWrites(router, dependencies);
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
      const id = idOf('cnv', request);
      response.json(await reading(dependencies, caller, (inside) => read(inside, id)));
    });
  };
  list(listConversationsEndpoint, conversationList);
  one(readConversationEndpoint, conversationDetail);
  one(readTimelineEndpoint, conversationTimeline);
  one(readEvidenceEndpoint, conversationEvidence);
  list(listEscalationsEndpoint, escalationList);
  list(listDeliveriesEndpoint, deliveryList);
  list(readAuditEndpoint, auditReport);
}

function reading<Result>(
  { staffPool }: StaffApiDependencies,
  { businessId }: Caller,
  read: (reading: Reading) => Promise<Result>,
): Promise<Result> {
  return readAsStaff(staffPool, businessId, (client) => read({ client, businessId }));
}
