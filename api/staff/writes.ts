import type { Request, RequestHandler, Router } from 'express';
import type { Pool } from 'pg';
import {
  STAFF_COMMANDS,
  type StaffCommandRequest,
  type StaffCommandResult,
} from '../../db/commands/contract';
import type { WakeTarget } from '../../db/due';
import { ProblemError } from '../problem';
import { authenticate } from './caller';
import { COMMAND_FORMS, commandBody, resolveBody, settleBody } from './bodies';
import { refusalProblem } from './commands';
import { pathOf } from './endpoint';
import {
  claimItemEndpoint,
  commandEndpoint,
  resolveItemEndpoint,
  settleEndpoint,
} from './endpoints';
import { bodyOf, idempotencyKeyOf, idOf, parse } from './parsing';

export interface WriteDependencies {
  /** Connects as the service role; looks up tokens. */
  readonly tokenPool: Pool;
  readonly runCommand: (request: StaffCommandRequest) => Promise<StaffCommandResult>;
  /** Wakes the conversation's workflow; must not throw. */
  readonly wake: (target: WakeTarget) => void;
}

type Envelope = Pick<StaffCommandRequest, 'businessId' | 'role' | 'idempotencyKey'>;

/** Every write of the staff API: parsed here, carried out by the command, then woken (O1). */
export function addWrites(router: Router, dependencies: WriteDependencies): void {
  for (const command of STAFF_COMMANDS) {
    const { read } = COMMAND_FORMS[command];
    router.post(
      pathOf(commandEndpoint(command)),
      write(dependencies, (request, envelope) => {
        const conversationId = idOf('cnv', request);
        const body = bodyOf(request);
        return { ...envelope, conversationId, ...read((schema) => parse(schema, body)) };
      }),
    );
  }
  router.post(
    pathOf(claimItemEndpoint),
    write(dependencies, (request, envelope) => {
      const workItemId = idOf('wrk', request);
      const { seenSeq = null } = parse(commandBody, bodyOf(request));
      return { ...envelope, workItemId, command: 'claim-item', seenSeq };
    }),
  );
  router.post(
    pathOf(resolveItemEndpoint),
    write(dependencies, (request, envelope) => {
      const workItemId = idOf('wrk', request);
      const { seenSeq = null, resolution = null } = parse(resolveBody, bodyOf(request));
      return { ...envelope, workItemId, command: 'resolve-item', seenSeq, resolution };
    }),
  );
  router.post(
    pathOf(settleEndpoint),
    write(dependencies, (request, envelope) => {
      const sendId = idOf('snd', request);
      const { arrived } = parse(settleBody, bodyOf(request));
      return { ...envelope, sendId, command: 'settle', seenSeq: null, arrived };
    }),
  );
}

function write(
  { tokenPool, runCommand, wake }: WriteDependencies,
  read: (request: Request, envelope: Envelope) => StaffCommandRequest,
): RequestHandler {
  return async (request, response) => {
    const { businessId, role } = await authenticate(tokenPool, request);
    const idempotencyKey = idempotencyKeyOf(request);
    const result = await runCommand(read(request, { businessId, role, idempotencyKey }));
    if (result.kind === 'refused') throw new ProblemError(refusalProblem(result));
    if (result.wake !== null) wake(result.wake);
    response.json(result.response);
  };
}
