import { createServer } from 'node:net';
import { Refusal, waitFor } from './machine.mjs';

const HOSTS = ['127.0.0.1', undefined];

function canListen(port, host) {
  return new Promise((fulfil) => {
    const server = createServer();
    server.once('error', (error) => fulfil(error.code));
    server.listen({ port, host, exclusive: true }, () => server.close(() => fulfil(null)));
  });
}

/** Null if a program of ours could listen on the port, else the code of the system's refusal. */
async function problemWith(port) {
  for (const host of HOSTS) {
    const code = await canListen(port, host);
    if (code) return code;
  }
  return null;
}

/** A port on 127.0.0.1 that nobody listens on at this moment. */
export function freePort() {
  return new Promise((fulfil, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => fulfil(port));
    });
  });
}

/** Reads a port from the environment variable `name`. */
export function readPort(name, fallback) {
  const text = process.env[name] || String(fallback);
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new Refusal(`${name} must be a port number from 1 to 65535, not "${text}".`);
}

/**
 * Refuses if one of the ports cannot be had. `ports` maps the name of the environment variable
 * that changes a port to the port; `patienceMs` is how long the children of a killed run may take
 * to let go.
 */
export async function checkPorts(ports, patienceMs) {
  const seen = new Map();
  for (const [name, port] of Object.entries(ports)) {
    if (seen.has(port)) {
      throw new Refusal(`${name} and ${seen.get(port)} are both ${port}; they must differ.`);
    }
    seen.set(port, name);
  }
  for (const [name, port] of Object.entries(ports)) {
    const free = await waitFor(async () => (await problemWith(port)) === null, {
      timeoutMs: patienceMs,
    });
    if (!free) throw new Refusal(await sentence(name, port));
  }
}

async function sentence(name, port) {
  if ((await problemWith(port)) === 'EACCES') {
    return `Port ${port} may not be used by this user; set ${name} to another port.`;
  }
  return `Port ${port} is in use by another program; stop that program or set ${name} to another port.`;
}
