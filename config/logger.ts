import { pino, type Logger } from 'pino';

export type { Logger } from 'pino';

/**
 * A JSON log to standard output. Only ids and words are logged (C8); the redaction is the second
 * line, for header objects and error causes that hold more than they should.
 */
export function makeLogger(service: string, level: string): Logger {
  return pino({
    level,
    base: { service },
    redact: {
      paths: [
        'req.headers.authorization',
        'req.headers.cookie',
        'req.headers["x-hub-signature-256"]',
        'req.headers["x-twilio-signature"]',
        '*.text',
        '*.body',
        '*.phone',
        '*.accessToken',
        '*.credentials',
      ],
      censor: '[redacted]',
    },
    serializers: { error: describeError },
  });
}

/** An error as its name, code and message; messages of ours hold ids only. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error);
  return { name: error.name, message: error.message };
}
