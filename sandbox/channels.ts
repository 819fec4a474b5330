/** The channels whose providers stand here. `contract.md` lists those that later versions add. */
export const SANDBOX_CHANNELS = ['messenger', 'instagram', 'whatsapp', 'sms'] as const;
export type SandboxChannel = (typeof SANDBOX_CHANNELS)[number];

/** Messenger and Instagram share one wire format (providers 3.2). */
export type PageChannel = 'messenger' | 'instagram';

/** Says whether `value` names a channel of this sandbox. */
export function isSandboxChannel(value: unknown): value is SandboxChannel {
  return SANDBOX_CHANNELS.some((channel) => channel === value);
}
