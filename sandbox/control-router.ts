import express, { type Router } from 'express';
import { z } from 'zod';
import type { SandboxAccount } from './accounts';
import { isSandboxChannel, SANDBOX_CHANNELS } from './channels';
import type { SandboxContext } from './context';
import { FAULTS, isFaultName, WEBHOOK_NATURES } from './faults';
import { metaWebhookUrl } from './meta/meta-webhook';
import { channelOr404, jsonErrors, refuse } from './phone/phone-router';
import { inboundSmsUrl } from './twilio/twilio-webhook';
import { firstText, memberOf } from './values';

const MS_MAX = 86_400_000;
const USES_MAX = 1_000_000;

const armedFault = z.strictObject({
  channel: z.enum(SANDBOX_CHANNELS),
  fault: z.enum(FAULTS),
  count: z.number().int().min(1).max(USES_MAX).default(1),
  ms: z.number().int().min(0).max(MS_MAX).optional(),
  code: z.number().int().optional(),
  webhook: z.enum(WEBHOOK_NATURES).optional(),
});

const latency = z.strictObject({
  channel: z.enum(SANDBOX_CHANNELS),
  ms: z.number().int().min(0).max(MS_MAX),
});

function accountView(context: SandboxContext, account: SandboxAccount) {
  const { channel, accountId, externalId } = account;
  const { metaAppSecret, twilioAuthToken } = context.settings;
  const isSms = channel === 'sms';
  return {
    channel,
    accountId,
    externalId,
    webhookUrl: isSms ? inboundSmsUrl(context) : metaWebhookUrl(context),
    signingSecret: isSms ? twilioAuthToken : metaAppSecret,
    healthy: context.courier.healthy(externalId),
    name: account.name,
  };
}

/** `since` as the ledger compares it; null where it is no instant. */
function instantOf(text: string | null): string | null {
  if (text === null) return '';
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}

function addFaults(router: Router, context: SandboxContext): void {
  router.get('/faults', (_request, response) => {
    response.json(context.faults.list());
  });
  router.post('/faults', (request, response) => {
    const body: unknown = request.body;
    if (!isFaultName(memberOf(body, 'fault'))) {
      const fault = String(memberOf(body, 'fault'));
      refuse(response, 400, `Unknown fault "${fault}". Known are: ${FAULTS.join(', ')}.`);
      return;
    }
    if (channelOr404(response, memberOf(body, 'channel')) === null) return;
    const parsed = armedFault.safeParse(body);
    if (!parsed.success) {
      refuse(response, 400, z.prettifyError(parsed.error));
      return;
    }
    context.faults.arm(parsed.data);
    response.status(201).json(parsed.data);
  });
  router.delete('/faults', (request, response) => {
    const channel = firstText(request.query['channel']);
    if (channel !== null && channelOr404(response, channel) === null) return;
    context.faults.clear(isSandboxChannel(channel) ? channel : null);
    response.status(204).end();
  });
}

function addLatency(router: Router, context: SandboxContext): void {
  router.get('/latency', (_request, response) => {
    response.json(Object.fromEntries(context.latency));
  });
  router.put('/latency', (request, response) => {
    const parsed = latency.safeParse(request.body);
    if (!parsed.success) {
      refuse(response, 400, z.prettifyError(parsed.error));
      return;
    }
    context.latency.set(parsed.data.channel, parsed.data.ms);
    response.json(parsed.data);
  });
}

/** Accounts, ledger, faults and latency: what a test sets up and looks at. */
export function controlRouter(context: SandboxContext): Router {
  const router = express.Router();
  router.use(express.json());
  router.get('/accounts', (_request, response) => {
    response.json(context.accounts.all().map((account) => accountView(context, account)));
  });
  router.get('/ledger', (request, response) => {
    const channel = firstText(request.query['channel']);
    if (channel !== null && channelOr404(response, channel) === null) return;
    const since = instantOf(firstText(request.query['since']));
    if (since === null) {
      refuse(response, 400, 'since is no ISO 8601 time.');
      return;
    }
    response.json(context.ledger.list(isSandboxChannel(channel) ? channel : null, since));
  });
  router.get('/deliveries', (_request, response) => {
    response.json(context.deliveries.list());
  });
  addFaults(router, context);
  addLatency(router, context);
  router.use(jsonErrors(context));
  return router;
}
