/** The business's own endpoint: it takes contacts, audit records and notices, and drops repeats. */
import { createServer } from 'node:http';

export async function startSink() {
  const seen = new Map();
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      const id = String(request.headers['webhook-id']);
      seen.set(id, (seen.get(id) ?? 0) + 1);
      response.writeHead(204).end();
    });
  });
  await new Promise((fulfil) => server.listen(0, '127.0.0.1', fulfil));
  return {
    url: `http://127.0.0.1:${server.address().port}/hook`,
    seen,
    async stop() {
      server.closeAllConnections();
      await new Promise((fulfil) => server.close(fulfil));
    },
  };
}
