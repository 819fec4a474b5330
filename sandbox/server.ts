import express, { type Express } from 'express';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { createContext, type SandboxContext } from './context';
import { controlRouter } from './control-router';
import { contentOf, contentTypeOf, kindOfMediaId } from './media';
import { graphRouter } from './meta/graph-router';
import { phoneRouter } from './phone/phone-router';
import { settingsFrom, type SandboxOptions } from './settings';
import { keepState } from './state-file';
import { twilioRouter } from './twilio/twilio-router';

/** A running sandbox. */
export interface Sandbox {
  /** Origin, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** Ends connections, retries and everything that waits. */
  readonly close: () => Promise<void>;
}

/** The page's files stand beside the source, also when this runs from a build folder. */
function publicFolder(): string {
  const beside = join(__dirname, 'public');
  return existsSync(beside) ? beside : join(__dirname, '..', '..', 'sandbox', 'public');
}

function createApp(context: SandboxContext): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use('/graph', graphRouter(context));
  app.use('/twilio', twilioRouter(context));
  app.use('/phone', phoneRouter(context));
  app.get('/media/:id', (request, response, next) => {
    const kind = kindOfMediaId(request.params.id);
    if (kind === null) {
      next();
      return;
    }
    response.type(contentTypeOf(kind)).send(contentOf(kind));
  });
  app.use((_request, response, next) => {
    response.set('Content-Security-Policy', "default-src 'self'; frame-ancestors 'none'");
    response.set('X-Content-Type-Options', 'nosniff');
    response.set('Referrer-Policy', 'no-referrer');
    next();
  });
  app.use(express.static(publicFolder(), { cacheControl: false }));
  app.use(controlRouter(context));
  app.use((request, response) => {
    response.status(404).json({ error: `Nothing is at ${request.method} ${request.path}.` });
  });
  return app;
}

async function listen(server: Server, port: number, host: string): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

/**
 * Starts the local providers and the customer's phone in this process. Rejects when the port is
 * taken or a secret is empty.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const settings = settingsFrom(options);
  const context = createContext(settings);
  const closeState = settings.stateFile === null ? null : keepState(context, settings.stateFile);
  const server = createServer(createApp(context));
  const port = await listen(server, settings.port, settings.host);
  const url = `http://localhost:${port}`;
  context.self.url = url;
  const close = async (): Promise<void> => {
    context.background.close();
    const closed = new Promise<void>((resolve, reject) => {
      server.close((error) => (error === undefined ? resolve() : reject(error)));
    });
    server.closeAllConnections();
    await context.courier.close();
    await closed;
    await closeState?.();
  };
  return { url, port, close };
}
