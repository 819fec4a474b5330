import { constants, mkdir, open, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { CallResult } from '../domain/jobs';

/** One record for a file; `id` names it for ever. */
export interface AuditLine {
  readonly path: string;
  readonly record: Readonly<Record<string, unknown>> & { readonly id: string };
  /** An earlier try may have written it: the file is asked first. */
  readonly doubtful: boolean;
}

/** Adds a record to a file, once however often it is asked. Never throws. */
export type AppendAudit = (line: AuditLine) => Promise<CallResult>;

/** A plain relative path of a few parts; nothing in it can leave the directory. */
const SAFE_PATH = /^(?!\.)[\w-][\w.-]*(?:\/[\w-][\w.-]*){0,3}$/;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW;
const APPEND = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

/** Longer than any record of ours; what is longer is kept to this length, and is none of them. */
const LINE_CHARACTERS_MAX = 1_048_576;

/**
 * Appends records below `directory`, one JSON line each, and returns once the disk has them (IN2).
 * A file has no idempotency keys: where an earlier try ended without a word, the file is read for
 * the id first. A writer that is still at it past its attempt's limit can append behind that look,
 * so that an id may stand there twice: readers drop an id that they know. A symbolic link is neither
 * read nor written. Null for the directory refuses every record, until one is configured.
 */
export function makeAppendAudit(directory: string | null): AppendAudit {
  return async ({ path, record, doubtful }) => {
    if (directory === null) return failed('no_export_directory');
    if (!SAFE_PATH.test(path)) return { outcome: 'refused', code: 'bad-path', retryAfterMs: null };
    const file = join(directory, path);
    try {
      if (doubtful && (await holds(file, record.id))) return accepted;
      await appendLine(file, JSON.stringify(record));
      return accepted;
    } catch (error) {
      return failed(codeOf(error));
    }
  };
}

const accepted: CallResult = { outcome: 'accepted', code: null, retryAfterMs: null };

/** A write that failed may still be there: the next try looks. */
function failed(code: string): CallResult {
  return { outcome: 'unknown', code, retryAfterMs: null };
}

async function appendLine(file: string, line: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const handle = await open(file, APPEND, 0o600);
  try {
    // A try that died half way left a line without its end; this record starts on a new one.
    const start = (await endsWhole(handle)) ? '' : '\n';
    await handle.appendFile(`${start}${line}\n`, 'utf8');
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function endsWhole(handle: FileHandle): Promise<boolean> {
  const { size } = await handle.stat();
  if (size === 0) return true;
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] === 0x0a;
}

async function holds(file: string, id: string): Promise<boolean> {
  const handle = await openToRead(file);
  if (handle === null) return false;
  try {
    for await (const line of linesOf(handle)) {
      if (idOf(line) === id) return true;
    }
    return false;
  } finally {
    await handle.close();
  }
}

/** Null where there is no such file yet. */
async function openToRead(file: string): Promise<FileHandle | null> {
  try {
    return await open(file, READ);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** The lines of a file of any size, in bounded memory. */
async function* linesOf(handle: FileHandle): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of handle.createReadStream({ encoding: 'utf8', autoClose: false })) {
    const lines = `${rest}${String(chunk)}`.split('\n');
    rest = (lines.pop() ?? '').slice(0, LINE_CHARACTERS_MAX);
    yield* lines;
  }
  yield rest;
}

/** Null for a line that is none of ours, such as one that a crash cut off. */
function idOf(line: string): unknown {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && 'id' in value ? value.id : null;
  } catch {
    return null;
  }
}

/** The system's short code; its message would quote the path. */
function codeOf(error: unknown): string {
  const named = typeof error === 'object' && error !== null && 'code' in error;
  return named && typeof error.code === 'string' ? error.code : 'not-written';
}
