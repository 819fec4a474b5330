import type { Request, Response } from 'express';
import { pause } from './background';
import type { SandboxChannel } from './channels';
import { isoNow, type SandboxContext } from './context';
import { CALL_FAULTS, type ArmedFault, type CallFault } from './faults';
import { keptHeaders, type LedgerEntry } from './ledger';

/** One HTTP answer of a provider. */
export interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A send that the provider has accepted: the answer, and the webhooks that come of it. */
export interface Accepted {
  readonly reply: Reply;
  readonly followUps: () => Promise<void>;
}

/** Faults that end in an answer of the provider's own making. */
export type AnswerFault = 'error-500' | 'success-with-inner-error' | 'rate-limit' | 'auth-expired';

/** One send call that passed validation, in the words of its provider. */
export interface SendCall {
  readonly channel: SandboxChannel;
  readonly request: Request;
  readonly response: Response;
  /** Accepts it. `failure` says that it is accepted, but will never arrive. */
  readonly accept: (failure: ArmedFault | null) => Accepted;
  readonly faultReply: (fault: AnswerFault, armed: ArmedFault) => Reply;
}

/** Beyond the usual call timeout of a client, so that the acceptance comes too late for it. */
const HANG_MS = 12_000;

/** Writes an answer, unless the client has gone. */
export function answer(response: Response, reply: Reply): void {
  if (response.destroyed || response.headersSent) return;
  response
    .status(reply.status)
    .set(reply.headers ?? {})
    .json(reply.body);
}

/** Waits the response delay that is set for a channel. */
export async function applyLatency(
  context: SandboxContext,
  channel: SandboxChannel,
): Promise<void> {
  await pause(context.latency.get(channel) ?? 0);
}

/** Resolves when the client gives up, or after `ms`, and then cuts the connection. */
async function leaveUnanswered(response: Response, ms: number | undefined): Promise<void> {
  if (response.destroyed) return;
  await new Promise<void>((resolve) => {
    const timer = ms === undefined ? undefined : setTimeout(resolve, ms);
    response.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
  response.destroy();
}

/** Accepts the send and starts its echoes and statuses, before the answer where a fault says so. */
async function accept(context: SandboxContext, call: SendCall): Promise<Reply> {
  const failure = context.faults.take(call.channel, ['accepted-then-failed']);
  const early = context.faults.take(call.channel, ['status-before-response']);
  const accepted = call.accept(failure);
  if (early !== null) await accepted.followUps();
  else context.background.later(context.settings.echoDelayMs, accepted.followUps);
  return accepted.reply;
}

async function meetFault(
  context: SandboxContext,
  call: SendCall,
  armed: ArmedFault<CallFault>,
): Promise<void> {
  switch (armed.fault) {
    case 'timeout-before-accept':
      return leaveUnanswered(call.response, armed.ms);
    case 'timeout-after-accept':
      await accept(context, call);
      return leaveUnanswered(call.response, armed.ms);
    case 'hang':
      await pause(armed.ms ?? HANG_MS);
      {
        answer(call.response, await accept(context, call));
        return;
      }
    case 'error-500-after-accept':
      await accept(context, call);
      {
        answer(call.response, call.faultReply('error-500', armed));
        return;
      }
    default:
      answer(call.response, call.faultReply(armed.fault, armed));
  }
}

/** Carries out a valid send: accepts and answers it, or does what an armed fault says. */
export async function serveSend(context: SandboxContext, call: SendCall): Promise<void> {
  const armed = context.faults.take(call.channel, CALL_FAULTS);
  if (armed !== null) return meetFault(context, call, armed);
  answer(call.response, await accept(context, call));
}

/** What a provider knows of a send at the moment it accepts it. */
export interface Acceptance extends Omit<LedgerEntry, 'acceptedAt' | 'requestHeaders'> {
  readonly request: Request;
  /** False where it will never arrive (fault `accepted-then-failed`). */
  readonly arrives: boolean;
  readonly media?: readonly string[];
}

/** Writes an accepted send into the ledger and, if it arrives, onto the lead's phone. */
export function recordAcceptance(context: SandboxContext, acceptance: Acceptance): void {
  const { request, arrives, media, ...sent } = acceptance;
  const at = isoNow(context);
  context.ledger.record({ ...sent, acceptedAt: at, requestHeaders: keptHeaders(request.headers) });
  if (!arrives) return;
  const { channel, lead, text, providerMessageId, externalId } = sent;
  const attached = media === undefined || media.length === 0 ? {} : { media };
  const origin = { from: 'business', account: externalId, author: 'app' } as const;
  context.threads.put(channel, lead, { at, text, providerMessageId, ...origin, ...attached });
}

/** The instant before which sends are visible to a read-back (fault `readback-lag`). */
export function visibleUntil(context: SandboxContext, channel: SandboxChannel): number {
  const lag = context.faults.take(channel, ['readback-lag']);
  return lag === null ? Number.POSITIVE_INFINITY : context.settings.now() - (lag.ms ?? 60_000);
}
