import { waitUntil, type Running } from '../support/processes';
import { startStack, type Stack, type Written } from '../support/stack';

function present(written: Written | null): Written {
  if (written === null) throw new Error('nothing was written');
  return written;
}

/**
 * The ways in which a turn disappears (T11), each forced on real processes: the api, the workers,
 * Temporal and Postgres are killed where it hurts. Every lead ends answered exactly once, or with
 * a person where nobody can know.
 */
describe('a turn cannot disappear', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack({ worker: true });
  }, 120_000);
  afterAll(async () => {
    const outcomes = await stack.outcomes();
    console.info(
      `answered ${outcomes.answered} / handed over ${outcomes.handedOver} / unknown ${outcomes.unknown} / no-answer ${outcomes.noAnswer}`,
    );
    await stack.close();
  }, 60_000);

  it('without faults a lead is answered once on every channel [T11] [INV-6]', async () => {
    for (const channel of ['messenger', 'instagram', 'whatsapp', 'sms']) {
      await stack.write(channel, `Plain ${channel}`, 'My kitchen drain is clogged, 60614');
    }
    for (const channel of ['messenger', 'instagram', 'whatsapp', 'sms']) {
      await stack.answered(channel, `Plain ${channel}`);
      expect(await stack.sentTo(`Plain ${channel}`)).toHaveLength(1);
    }
    const outcomes = await waitUntil('everything is recorded', async () => {
      const now = await stack.outcomes();
      return now.owed === 0 ? now : null;
    });
    expect(outcomes).toMatchObject({ answered: 4, handedOver: 0, unknown: 0, noAnswer: 0 });
  });

  it('the api killed right after the 200 loses nothing: the relay wakes the conversation [T11] [T1]', async () => {
    await stack.stopAll('api');
    const doomed = await stack.startApi({ UNSILENT_FAILPOINT: 'webhook:answered=kill' });
    const { webhookStatus } = await stack.write('sms', 'Killed Api', 'My toilet keeps running');
    expect(webhookStatus).toBe(200);
    expect(await doomed.ended).toBe('SIGKILL');
    await stack.startApi();
    await stack.answered('sms', 'Killed Api');
    expect(await stack.sentTo('Killed Api')).toHaveLength(1);
  });

  it('a turn that throws is taken again and answered once [T11] [T3]', async () => {
    await withWorker({ UNSILENT_FAILPOINT: 'turn:drafted=throw' }, async () => {
      await stack.write('messenger', 'Thrown', 'The faucet drips all night');
      await stack.answered('messenger', 'Thrown');
    });
    expect(await stack.sentTo('Thrown')).toHaveLength(1);
  });

  it('a worker killed mid-turn leaves the debt, and another worker answers once [T11]', async () => {
    await withWorker({ UNSILENT_FAILPOINT: 'turn:drafted=kill' }, async (doomed) => {
      await stack.write('messenger', 'Killed Turn', 'Water under the sink');
      expect(await doomed.ended).toBe('SIGKILL');
    });
    await stack.answered('messenger', 'Killed Turn');
    expect(await stack.sentTo('Killed Turn')).toHaveLength(1);
  });

  it('a worker killed between acceptance and marker is found by read-back, not sent again [T8] [T11] [INV-10]', async () => {
    let written: Written | null = null;
    await withWorker({ UNSILENT_FAILPOINT: 'deliver:accepted=kill' }, async (doomed) => {
      written = await stack.write('messenger', 'Accepted', 'The main line is backing up');
      expect(await doomed.ended).toBe('SIGKILL');
    });
    expect(await settled(present(written))).toBe('reply');
    expect(await stack.sentTo('Accepted')).toHaveLength(1);
  });

  it('a worker killed after the marker is recorded from it, not sent again [T8] [INV-10]', async () => {
    let written: Written | null = null;
    await withWorker({ UNSILENT_FAILPOINT: 'deliver:marked=kill' }, async (doomed) => {
      written = await stack.write('sms', 'Marked', 'No hot water since this morning');
      expect(await doomed.ended).toBe('SIGKILL');
    });
    expect(await settled(present(written))).toBe('reply');
    expect(await stack.sentTo('Marked')).toHaveLength(1);
  });

  it('a worker killed inside the provider call ends as a reply or with a person, never twice [T11] [C6]', async () => {
    await stack.fault('whatsapp', 'hang');
    let written: Written | null = null;
    await withWorker({}, async (doomed) => {
      written = await stack.write('whatsapp', 'Inside', 'My water heater is leaking');
      await waitUntil('the call is under way', async () => {
        const rows = await stack.sql<{ id: string }>(
          "select id from outbox where channel = 'whatsapp' and state = 'sending'",
        );
        return rows.length > 0;
      });
      await doomed.kill();
    });
    expect(['reply', 'work-item']).toContain(await settled(present(written)));
    expect((await stack.sentTo('Inside')).length).toBeLessThanOrEqual(1);
  });

  it('while Temporal is down the webhook answers 200, and the answer comes when it is back [T11] [R6]', async () => {
    await stack.temporal.command('kill');
    const { webhookStatus } = await stack.write('sms', 'No Temporal', 'Can you fix a leak?');
    expect(webhookStatus).toBe(200);
    // In memory, so it comes back empty: histories, timers and schedules are gone (R6).
    await stack.temporal.command('start');
    await stack.answered('sms', 'No Temporal');
    expect(await stack.sentTo('No Temporal')).toHaveLength(1);
  });

  it('Postgres restarted under load loses nobody and doubles nothing [T11] [INV-10]', async () => {
    const leads = Array.from({ length: 12 }, (_, index) => `Loaded ${index}`);
    const writing = Promise.all(
      leads.map(async (lead, index) => {
        await new Promise((resolve) => setTimeout(resolve, index * 120));
        return stack.write('messenger', lead, 'My drain is clogged, 60614');
      }),
    );
    await new Promise((resolve) => setTimeout(resolve, 700));
    await stack.postgres.command('kill');
    await stack.postgres.command('start');
    for (const written of await writing) await settled(written);
    for (const lead of leads) {
      expect((await stack.sentTo(lead)).length).toBeLessThanOrEqual(1);
    }
    const { owed } = await stack.outcomes();
    expect(owed).toBe(0);
  });

  /** Runs with one worker of its own instead of the stack's, then starts a plain one again. */
  async function withWorker(env: NodeJS.ProcessEnv, work: (worker: Running) => Promise<void>) {
    await stack.stopAll('worker');
    await work(stack.startWorker(env));
    await stack.stopAll('worker');
    stack.startWorker();
  }

  /** Waits until a message is settled, and returns how. */
  function settled(written: Written): Promise<string> {
    return waitUntil('the message is settled', () => stack.settlement(written), 90_000);
  }
});
