import { createWriteStream, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { SANDBOX_CHANNELS } from './channels';
import type { SandboxContext } from './context';

/** Only what cannot be derived again: who wrote what, and who is blocked at Twilio. */
const entry = z.object({
  at: z.string(),
  from: z.enum(['lead', 'business']),
  text: z.string(),
  providerMessageId: z.string(),
  account: z.string(),
  author: z.enum(['app', 'staff', 'other-app', 'provider']).exactOptional(),
  media: z.array(z.string()).exactOptional(),
  status: z.enum(['sent', 'delivered', 'read']).exactOptional(),
  webhookStatus: z.number().exactOptional(),
  edits: z.number().exactOptional(),
  deleted: z.boolean().exactOptional(),
  reaction: z.string().exactOptional(),
  imported: z.boolean().exactOptional(),
});

const line = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('thread'),
    channel: z.enum(SANDBOX_CHANNELS),
    lead: z.string(),
    entry,
  }),
  z.object({
    type: z.literal('opt-out'),
    account: z.string(),
    phone: z.string(),
    blocked: z.boolean(),
  }),
]);

/** A line cut short by a kill is the last of its file, so it is left out and nothing else is. */
function readLines(path: string): z.infer<typeof line>[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((text) => {
      try {
        const parsed = line.safeParse(JSON.parse(text));
        return parsed.success ? [parsed.data] : [];
      } catch (error) {
        if (error instanceof SyntaxError) return [];
        throw error;
      }
    });
}

/** Only the newest state of each message and each block is worth a line. */
function compacted(lines: readonly z.infer<typeof line>[]): readonly z.infer<typeof line>[] {
  const newest = new Map<string, z.infer<typeof line>>();
  for (const one of lines) {
    const key =
      one.type === 'thread'
        ? `${one.channel} ${one.lead} ${one.entry.providerMessageId}`
        : `${one.account} ${one.phone}`;
    newest.set(key, one);
  }
  return [...newest.values()];
}

function restore(context: SandboxContext, path: string): void {
  const lines = compacted(readLines(path));
  for (const one of lines) {
    if (one.type === 'opt-out') context.sms.setBlocked(one.account, one.phone, one.blocked);
    else {
      context.people.named(one.lead);
      context.threads.put(one.channel, one.lead, one.entry);
    }
  }
  const temporary = `${path}.new`;
  writeFileSync(temporary, lines.map((one) => `${JSON.stringify(one)}\n`).join(''));
  renameSync(temporary, path);
}

/**
 * Restores threads and opt-outs from the state file and appends every change to it from then on.
 * Returns the function that closes the file.
 */
export function keepState(context: SandboxContext, path: string): () => Promise<void> {
  restore(context, path);
  const stream = createWriteStream(path, { flags: 'a' });
  stream.on('error', context.settings.onError);
  const unsubscribe = context.events.subscribe((event) => {
    const kept = event.type === 'thread' || event.type === 'opt-out';
    if (kept) stream.write(`${JSON.stringify(event)}\n`);
  });
  return () => {
    unsubscribe();
    return new Promise((resolve) => {
      stream.end(() => resolve());
    });
  };
}
