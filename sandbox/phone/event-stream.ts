import type { Request, Response } from 'express';
import type { SandboxContext } from '../context';

const HEARTBEAT_MS = 15_000;

/** `GET /phone/events`: server-sent events of everything that changes on a phone. */
export function streamEvents(context: SandboxContext, request: Request, response: Response): void {
  response.writeHead(200, {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-cache, no-transform',
  });
  response.write('retry: 1000\n\n');
  const unsubscribe = context.events.subscribe((event) => {
    response.write(`data: ${JSON.stringify(event)}\n\n`);
  });
  const heartbeat = setInterval(() => response.write(': still here\n\n'), HEARTBEAT_MS);
  request.once('close', () => {
    clearInterval(heartbeat);
    unsubscribe();
  });
}
