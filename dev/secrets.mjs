import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from './machine.mjs';

const NAMES = [
  'META_APP_SECRET',
  'META_VERIFY_TOKEN',
  'TWILIO_AUTH_TOKEN',
  'DATABASE_ROLE_PASSWORD',
  'DEMO_TOKEN',
  'POSTGRES_PASSWORD',
  'HASH_KEY',
];

function writePrivately(path, text) {
  const unfinished = `${path}.new`;
  writeFileSync(unfinished, text, { mode: 0o600 });
  renameSync(unfinished, path);
}

function read(path) {
  if (!existsSync(path)) return {};
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new Refusal(`${path} is not readable JSON; repair it, or delete the folder it is in.`);
  }
}

/**
 * The secrets of this installation, made at random the first time and kept in `secrets.json`,
 * which only its owner can read. What the environment sets wins for this run.
 */
export function loadSecrets(home) {
  const path = join(home, 'secrets.json');
  const kept = read(path);
  const missing = NAMES.filter((name) => typeof kept[name] !== 'string');
  for (const name of missing) kept[name] = randomBytes(24).toString('hex');
  if (missing.length > 0) writePrivately(path, `${JSON.stringify(kept, null, 2)}\n`);
  const entries = NAMES.map((name) => [name, process.env[name] || kept[name]]);
  const secrets = { ...Object.fromEntries(entries), POSTGRES_PASSWORD: kept.POSTGRES_PASSWORD };
  writePrivately(join(home, 'demo-token'), `${secrets.DEMO_TOKEN}\n`);
  return secrets;
}
