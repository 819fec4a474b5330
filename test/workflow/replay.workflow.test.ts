import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const REPLAY = join(__dirname, '..', 'replay');

/**
 * The recorded histories of released versions and of this one. A workflow that read the zone, the
 * locale or the clock of its process would not give the same commands in every zone (traps.md).
 */
describe('the recorded histories', () => {
  it.each(['UTC', 'Asia/Kolkata', 'America/St_Johns'])(
    'are replayed by this version without a difference in a process of the zone %s [O3] [LV-6]',
    async (zone) => {
      const bundle = process.env['TEST_WORKFLOW_BUNDLE'] ?? '';
      const files = readdirSync(REPLAY, { recursive: true, withFileTypes: true }).filter(
        (entry) => entry.isFile() && entry.name.endsWith('.json'),
      );
      const replay = promisify(execFile)(process.execPath, [join(REPLAY, 'replay.mjs'), bundle], {
        env: { ...process.env, TZ: zone, LANG: 'de_DE.UTF-8' },
      });
      const { stdout } = await replay;
      expect(stdout.trim()).toBe(`${files.length} histories replayed, 0 failed`);
      expect(files.length).toBeGreaterThanOrEqual(25);
    },
  );
});
