import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { RequestListener } from 'node:http';

export interface Served {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves an express app on a free port of this machine. */
export async function serve(app: RequestListener): Promise<Served> {
  const server: Server = createServer(app);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
