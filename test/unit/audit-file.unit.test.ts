import { appendFile, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeAppendAudit, type AuditLine } from '../../activities/audit-file';
import type { CallResult } from '../../domain/jobs';

const RECORD = { id: 'rcp_1:audit-export:v1' };
const WRITTEN = `${JSON.stringify(RECORD)}\n`;
const accepted: CallResult = { outcome: 'accepted', code: null, retryAfterMs: null };

describe('the audit file', () => {
  let directory: string;
  let outside: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'audit-'));
    outside = await mkdtemp(join(tmpdir(), 'outside-'));
  });
  afterEach(async () => {
    await rm(directory, { recursive: true });
    await rm(outside, { recursive: true });
  });

  const append = (line: Partial<AuditLine> = {}): Promise<CallResult> =>
    makeAppendAudit(directory)({ path: 'audit.jsonl', record: RECORD, doubtful: true, ...line });
  const text = (): Promise<string> => readFile(join(directory, 'audit.jsonl'), 'utf8');

  it.each([true, false])(
    'is never read or written through a symbolic link, doubtful or not: %p [IN2]',
    async (doubtful) => {
      const target = join(outside, 'theirs.jsonl');
      await writeFile(target, WRITTEN);
      await symlink(target, join(directory, 'audit.jsonl'));
      // The target holds the id: whoever followed the link would call the record written.
      expect(await append({ doubtful })).toMatchObject({ outcome: 'unknown', code: 'ELOOP' });
      expect(await readFile(target, 'utf8')).toBe(WRITTEN);
    },
  );

  it.each([true, false])(
    'holds a record once, whichever try of it asks, the first one doubtful: %p [IN2]',
    async (doubtful) => {
      expect(await append({ doubtful })).toEqual(accepted);
      expect(await append()).toEqual(accepted);
      expect(await text()).toBe(WRITTEN);
    },
  );

  it('finds a record behind many others, across the borders of what is read at once [IN2]', async () => {
    const others = Array.from({ length: 4_000 }, (_none, index) =>
      JSON.stringify({ id: `rcp_${index}é:audit-export:v1`, filler: 'ü'.repeat(index % 97) }),
    );
    await writeFile(join(directory, 'audit.jsonl'), `${others.join('\n')}\n${WRITTEN}`);
    const before = await text();
    expect(await append()).toEqual(accepted);
    expect(await text()).toBe(before);
  });

  it('finds a record behind a line that is longer than any record [IN2]', async () => {
    const file = join(directory, 'audit.jsonl');
    await writeFile(file, 'x'.repeat(3_000_000));
    await appendFile(file, `\n${WRITTEN}`);
    expect(await append()).toEqual(accepted);
    expect((await text()).split('\n')).toHaveLength(3);
  });

  it('takes a line for ours only where its own id says so [IN2]', async () => {
    await writeFile(
      join(directory, 'audit.jsonl'),
      `${JSON.stringify({ data: RECORD })}\n"${RECORD.id}"\n{"id":"${RECORD.id}`,
    );
    expect(await append()).toEqual(accepted);
    expect((await text()).endsWith(`\n${WRITTEN}`)).toBe(true);
  });
});
