import { hostname } from 'node:os';
import { z } from 'zod';

const port = (fallback: number) => z.coerce.number().int().min(0).max(65_535).default(fallback);

/** Secrets that may be rotated: several values, separated by commas, any of which is accepted. */
const secrets = z
  .string()
  .default('')
  .transform((text) =>
    text
      .split(',')
      .map((value) => value.trim())
      .filter((value) => value !== ''),
  );

const DEVELOPMENT_HASH_KEY = 'for-development-only';

const environment = z
  .object({
    NODE_ENV: z.enum(['production', 'development', 'test']).default('development'),
    PORT: port(3000),
    PUBLIC_URL: z.url().optional(),
    DATABASE_URL: z.string().min(1),
    DATABASE_ROLE_PASSWORD: z.string().min(8),
    TEMPORAL_NAMESPACE: z.string().min(1).default('default'),
    META_APP_ID: z.string().default('900000000000009'),
    META_APP_SECRET: secrets,
    META_VERIFY_TOKEN: z.string().default(''),
    META_GRAPH_URL: z.url().default('https://graph.facebook.com'),
    TWILIO_ACCOUNT_SID: z.string().default(''),
    TWILIO_AUTH_TOKEN: secrets,
    TWILIO_API_URL: z.url().default('https://api.twilio.com'),
    /** Without it notices by e-mail are off. */
    SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
    NOTICE_FROM: z.string().min(3).optional(),
    /** Keys the hashes of source ids in logs (C8); the default is refused in production. */
    HASH_KEY: z.string().min(16).default(DEVELOPMENT_HASH_KEY),
    /** B of docs/invariants.md: the audit says so when a reply is owed for longer. */
    OWED_BOUND_SECONDS: z.coerce.number().int().min(10).default(900),
    RAW_BODY_DAYS: z.coerce.number().int().min(1).max(90).default(14),
    AUDIT_EXPORT_DIR: z.string().min(1).optional(),
    AUDIT_MONTHS: z.coerce.number().int().min(1).max(120).default(24),
    LOG_LEVEL: z
      .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
      .default('info'),
    WORKFLOW_BUNDLE: z.string().optional(),
    WEB_ROOT: z.string().optional(),
    UNSILENT_FAILPOINT: z.string().optional(),
    WORKER_ID: z.string().default(`${hostname()}/${process.pid}`),
  })
  .refine((env) => env.SMTP_URL === undefined || env.NOTICE_FROM !== undefined, {
    path: ['NOTICE_FROM'],
    error: 'is needed beside SMTP_URL, or the notices would have no sender',
  })
  .superRefine((env, context) => {
    if (env.META_APP_SECRET.length > 0 && env.META_VERIFY_TOKEN === '') {
      context.addIssue({
        code: 'custom',
        path: ['META_VERIFY_TOKEN'],
        message: 'is needed beside META_APP_SECRET, or the webhook handshake could be forged',
      });
    }
    if (env.TWILIO_AUTH_TOKEN.length > 0 && env.TWILIO_ACCOUNT_SID === '') {
      context.addIssue({
        code: 'custom',
        path: ['TWILIO_ACCOUNT_SID'],
        message: 'is needed beside TWILIO_AUTH_TOKEN, or nothing could be sent',
      });
    }
    if (env.NODE_ENV === 'production' && env.PUBLIC_URL === undefined) {
      context.addIssue({
        code: 'custom',
        path: ['PUBLIC_URL'],
        message: 'must name the origin that providers sign and call',
      });
    }
    if (env.NODE_ENV === 'production' && env.HASH_KEY === DEVELOPMENT_HASH_KEY) {
      context.addIssue({
        code: 'custom',
        path: ['HASH_KEY'],
        message: 'must be set, or hashed ids in logs could be guessed',
      });
    }
    if (env.NODE_ENV === 'production' && env.UNSILENT_FAILPOINT !== undefined) {
      context.addIssue({
        code: 'custom',
        path: ['UNSILENT_FAILPOINT'],
        message: 'is for tests and refused in production',
      });
    }
  });

export type Config = Omit<z.infer<typeof environment>, 'PUBLIC_URL'> & {
  readonly PUBLIC_URL: string;
};

/**
 * Reads the environment once, in a `main.ts`, and hands typed values down. Throws one sentence per
 * mistake, without any value, because values may be secrets.
 */
export function readConfig(source: NodeJS.ProcessEnv): Config {
  const parsed = environment.safeParse(source);
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
    throw new Error(`the configuration is not usable:\n${lines.join('\n')}`);
  }
  const { PUBLIC_URL, ...rest } = parsed.data;
  return { ...rest, PUBLIC_URL: PUBLIC_URL ?? `http://localhost:${rest.PORT}` };
}
