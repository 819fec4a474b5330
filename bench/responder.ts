import type { AddressInfo } from 'node:net';
import type { Express } from 'express';

/** What the two responders without rules answer; about as long as the product's own answer. */
export const ANSWER =
  'Thanks for reaching out to Rivera Plumbing about your water heater. Is it leaking from the ' +
  'tank itself or from a pipe?';

/** A setting that the benchmark passes to its programs. */
export function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is needed`);
  return value;
}

/** Listens on any free port of this machine and gives it. */
export function listen(app: Express): Promise<number> {
  return new Promise((resolve) => {
    const server = app.listen(0, '127.0.0.1', () => {
      resolve((server.address() as AddressInfo).port);
    });
    server.keepAliveTimeout = 120_000;
  });
}
