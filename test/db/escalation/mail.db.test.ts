import { deliverNoticesOnce } from '../../../upkeep/notices';
import { makeMailNotices, type MailNotices } from '../../../upkeep/notify/email';
import type { OutgoingNotice } from '../../../upkeep/notify/port';
import { makeWorld, type World } from '../../support/world';
import { startDawdlingServer, startMailServer, type MailServer } from './mail-server';
import { connect, openItem, round } from './scene';

const FROM = 'Unsilent <desk@unsilent.example>';
const CONSOLE_URL = 'https://desk.example/';
const TARGET = { settings: { to: ['desk@example.com'] }, secret: null };
const NOTICE: OutgoingNotice = {
  noticeId: 'ntc_1',
  businessId: null,
  queue: 'operators',
  createdAt: '2026-11-30T18:00:00.000Z',
  lines: [],
  consoleUrl: CONSOLE_URL,
};

/** Keeps what was logged: the level's name, the message and the fields. */
function keepingLog() {
  const logged: [level: string, message: string, fields: unknown][] = [];
  const at = (level: string) => (fields: unknown, message: string) => {
    logged.push([level, message, fields]);
  };
  return { logged, log: { info: at('info'), warn: at('warn'), error: at('error') } };
}

describe('the login at the mail server', () => {
  let world: World;
  let mailServer: MailServer;
  let mail: MailNotices;
  const { logged, log } = keepingLog();

  beforeAll(async () => {
    world = await makeWorld();
    mailServer = await startMailServer();
    mail = makeMailNotices({ smtpUrl: mailServer.url, from: FROM, log });
  });
  afterEach(async () => {
    mailServer.refuse(null);
    mailServer.mails.length = 0;
    logged.length = 0;
    await world.reset();
    await world.rows('delete from integrations');
  });
  afterAll(async () => {
    mail.close();
    await mailServer.close();
    await world.close();
  });

  const deliver = () =>
    deliverNoticesOnce({
      pool: world.database.service,
      clock: world.clock,
      transports: {
        'notice-email': mail.send,
        'notice-webhook': () => Promise.reject(new Error('no webhook is connected')),
      },
      consoleUrl: CONSOLE_URL,
      log,
    });
  const logins = () =>
    world.rows(
      `select business_id, reason, subject_id, resolution from work_items
       where kind = 'credentials' order by opened_at`,
    );
  const paused = () => world.rows('select id from integrations where paused_at is not null');
  const states = async () =>
    (await world.rows('select state, attempts from notice_deliveries order by 1, 2')).map(
      ({ state, attempts }) => `${String(state)} ${String(attempts)}`,
    );
  const OPEN = { business_id: null, reason: 'smtp-535', subject_id: 'smtp', resolution: null };

  /** A notice that the integrations of two owners carry. */
  const noticed = async (): Promise<void> => {
    await connect(world, { kind: 'notice-email', settings: TARGET.settings });
    await connect(world, { kind: 'notice-email', settings: TARGET.settings, businessId: null });
    await openItem(world, { kind: 'job-review' });
    await round(world);
  };

  it('where it is refused, pauses nobody’s integration and opens one item of those who run the system [IN4]', async () => {
    await noticed();
    mailServer.refuse('auth', 535);
    expect(await deliver()).toBe(2);
    expect(await paused()).toEqual([]);
    expect(await logins()).toEqual([OPEN]);
    expect(await states()).toEqual(['queued 1', 'queued 1']);
    const line = ['error', 'the mail server refuses the login of SMTP_URL'];
    expect(logged.map(([level, message]) => [level, message])).toEqual([line, line]);
    expect(JSON.stringify(logged)).not.toMatch(/secret|example\.com/);
  });

  it('once it works, carries what waited, and its item closes by itself [IN4]', async () => {
    await noticed();
    mailServer.refuse('auth', 535);
    await deliver();
    mailServer.refuse(null);
    world.clock.advance(1_300);
    expect(await deliver()).toBe(2);
    expect(mailServer.mails).toHaveLength(2);
    expect(await states()).toEqual(['sent 2', 'sent 2']);
    expect(await logins()).toEqual([{ ...OPEN, resolution: 'credentials_mended' }]);
    await openItem(world, { kind: 'quarantine' });
    mailServer.refuse('auth', 535);
    world.clock.advance(30_000);
    await round(world);
    await deliver();
    expect(await logins()).toEqual([{ ...OPEN, resolution: 'credentials_mended' }, OPEN]);
  });

  it('where it stays refused, ends each notice after its last try and keeps the one item open [IN4]', async () => {
    await noticed();
    mailServer.refuse('auth', 535);
    for (let second = 0; second <= 200; second += 1) {
      await deliver();
      world.clock.advance(1_000);
    }
    expect(await states()).toEqual(['failed 5', 'failed 5']);
    expect(await paused()).toEqual([]);
    expect(await logins()).toEqual([OPEN]);
  });

  it('where it is refused for now, is an ordinary failure that opens nothing [IN4]', async () => {
    await noticed();
    mailServer.refuse('auth', 454);
    await deliver();
    expect(await states()).toEqual(['queued 1', 'queued 1']);
    expect(await logins()).toEqual([]);
  });
});

describe('a mail', () => {
  it('that a server never answers for good ends at its deadline, with its connection [IN4] [T6]', async () => {
    const server = await startDawdlingServer();
    const { log } = keepingLog();
    const mail = makeMailNotices({ smtpUrl: server.url, from: FROM, log, deadlineMs: 500 });
    expect(await mail.send(NOTICE, TARGET)).toEqual({ kind: 'unknown', code: 'smtp-deadline' });
    await server.closed;
    mail.close();
    await server.close();
  });

  it('without a server is off, which is said once', async () => {
    const { log, logged } = keepingLog();
    const off = makeMailNotices({ smtpUrl: undefined, from: undefined, log });
    expect(logged).toEqual([['warn', 'notices by e-mail are off: SMTP_URL is not set', {}]]);
    expect(await off.send(NOTICE, TARGET)).toMatchObject({
      kind: 'not-accepted',
      retry: 'never',
      code: 'smtp-off',
    });
    off.close();
  });

  it('that a dead server never took is tried again [IN4]', async () => {
    const { log } = keepingLog();
    const dead = makeMailNotices({ smtpUrl: 'smtp://127.0.0.1:1', from: FROM, log });
    expect(await dead.send(NOTICE, TARGET)).toMatchObject({
      kind: 'not-accepted',
      retry: 'back-off',
    });
    dead.close();
  });
});
