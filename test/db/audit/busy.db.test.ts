import { runChecks, type CheckResult } from '../../../db/audit/run-checks';
import type { AuditScope } from '../../../db/audit/scopes';
import { runStaffCommand } from '../../../db/commands/run';
import { DEMO_BUSINESS } from '../../../dev/demo';
import { answerIntoTheUnknown } from '../../support/answering';
import { makeWorld, type World } from '../../support/world';

const LEADS = 24;

/** A world on the database's own clock: what is under way is as old as it looks. */
const onDatabaseClock = { clock: { now: () => Promise.resolve(null) } };

describe('audits of a database that is at work', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld(onDatabaseClock);
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  const numberOf = (index: number): string => `+131255501${String(index).padStart(2, '0')}`;

  /** A person takes over, by the database's clock like everything else here. */
  async function claim(conversationId: string): Promise<void> {
    const request = {
      businessId: DEMO_BUSINESS.id,
      role: 'agent',
      command: 'claim',
      conversationId,
      idempotencyKey: `claim-${conversationId}`,
      seenSeq: null,
    } as const;
    await runStaffCommand(world.database.staff, request, null);
  }

  /** A lead from the first message to the end, with whatever its number brings along. */
  async function converse(index: number): Promise<void> {
    const lead = numberOf(index);
    await world.write({ text: 'My sink leaks', lead, id: `SM-${index}-1` });
    const { id: conversationId } = await world.conversation(lead);
    if (index % 3 === 0) {
      // A burst: the second message comes while the turn is under way.
      await Promise.all([
        world.activities.takeTurn({ conversationId }),
        world.write({ text: 'Are you there?', lead, id: `SM-${index}-2` }),
      ]);
    }
    if (index % 4 === 1) await world.write({ text: 'My sink leaks', lead, id: `SM-${index}-1` });
    await world.activities.takeTurn({ conversationId });
    const sends = await world.rows(
      `select id from outbox where conversation_id = $1 and state = 'queued'`,
      [conversationId],
    );
    await Promise.all([
      ...sends.map(({ id }) => world.activities.deliver({ conversationId, sendId: String(id) })),
      index % 5 === 2 ? claim(conversationId) : null,
    ]);
    if (index % 5 === 3)
      await world.write({ text: 'STOP', lead, id: `SM-${index}-3`, optOut: 'stop' });
  }

  it('show nothing broken, however often they look while conversations run [INV-6] [INV-8]', async () => {
    const seen: CheckResult[] = [];
    let audits = 0;
    let isBusy = true;
    const auditor = await world.database.service.connect();
    const audit = async (): Promise<void> => {
      for (let scope: AuditScope = 'recent'; isBusy; audits += 1) {
        const options = { scope, boundMs: 900_000, now: null };
        const results = await runChecks(auditor, options);
        seen.push(
          ...results.filter(({ violations, failure }) => violations > 0 || failure !== null),
        );
        scope = scope === 'recent' ? 'full' : 'recent';
      }
    };
    const auditing = audit();
    try {
      for (let wave = 0; wave < LEADS; wave += 6) {
        await Promise.all([0, 1, 2, 3, 4, 5].map((offset) => converse(wave + offset)));
      }
    } finally {
      isBusy = false;
      await auditing;
      auditor.release();
    }
    expect(seen).toEqual([]);
    expect(audits).toBeGreaterThan(3);
    const [{ count } = {}] = await world.rows(
      `select count(*) from outbox where state in ('accepted', 'delivered')`,
    );
    expect(Number(count)).toBeGreaterThan(LEADS / 2);
  });

  it('see an unknown outcome and its review without calling it broken [INV-6] [INV-8]', async () => {
    await world.write({ text: 'My sink leaks' });
    await answerIntoTheUnknown(world);
    const results = await runChecks(world.database.service, {
      scope: 'full',
      boundMs: 900_000,
      now: null,
    });
    expect(results.filter(({ violations, failure }) => violations > 0 || failure !== null)).toEqual(
      [],
    );
  });
});
