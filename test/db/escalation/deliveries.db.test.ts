import { Webhook } from 'standardwebhooks';
import { makeHttpClient, type HttpClient } from '../../../channels/http';
import { makePostSigned } from '../../../channels/signed-webhook';
import { deliverNoticesOnce } from '../../../upkeep/notices';
import { makeMailNotices, type MailNotices } from '../../../upkeep/notify/email';
import {
  NOTICE_SEND_DEADLINE_MS,
  type NoticeOutcome,
  type NoticeTransports,
} from '../../../upkeep/notify/port';
import { makeWebhookNotices } from '../../../upkeep/notify/webhook';
import { makeWorld, type World } from '../../support/world';
import { startStandIn, type StandIn } from '../../unit/channels/support';
import { startMailServer, type MailServer } from './mail-server';
import { connect, handedOver, openItem, round } from './scene';

const LEAD = '+13125550142';
const SECRET = `whsec_${Buffer.from('a secret of twenty-four bytes').toString('base64')}`;
const CONSOLE_URL = 'https://desk.example/';

describe('the delivery of a notice', () => {
  let world: World;
  let http: HttpClient;
  let receiver: StandIn;
  let mailServer: MailServer;
  let mail: MailNotices;
  const logged: unknown[] = [];
  const log = {
    info: () => undefined,
    warn: (_fields: unknown, message: string) => logged.push(message),
    error: (fields: unknown, message: string) => logged.push([message, fields]),
  };

  beforeAll(async () => {
    world = await makeWorld();
    http = makeHttpClient();
    mailServer = await startMailServer();
    mail = makeMailNotices({
      smtpUrl: mailServer.url,
      from: 'Unsilent <desk@unsilent.example>',
      log,
    });
  });
  beforeEach(async () => {
    receiver = await startStandIn();
  });
  afterEach(async () => {
    await receiver.close();
    mailServer.refuse(null);
    mailServer.mails.length = 0;
    logged.length = 0;
    await world.reset();
    await world.rows('delete from integrations');
  });
  afterAll(async () => {
    mail.close();
    await mailServer.close();
    await http.close();
    await world.close();
  });

  const deliver = (transports: Partial<NoticeTransports> = {}): Promise<number> =>
    deliverNoticesOnce({
      pool: world.database.service,
      clock: world.clock,
      transports: {
        'notice-email': mail.send,
        'notice-webhook': makeWebhookNotices(makePostSigned(http)),
        ...transports,
      },
      consoleUrl: CONSOLE_URL,
      log,
    });
  const deliveries = () =>
    world.rows('select state, attempts, last_error_code as code from notice_deliveries');
  const connectMail = () =>
    connect(world, { kind: 'notice-email', settings: { to: ['desk@example.com'] } });
  const connectHook = () =>
    connect(world, {
      kind: 'notice-webhook',
      settings: { url: `${receiver.url}/notices` },
      secret: SECRET,
    });
  const noticed = async (): Promise<string> => {
    await handedOver(world, LEAD);
    await round(world);
    const [row] = await world.rows('select id from notices');
    return String(row?.['id']);
  };

  it('by e-mail says what waits, since when and where, and nothing of the lead [C7] [C8]', async () => {
    await connectMail();
    const id = await noticed();
    expect(await deliver()).toBe(1);
    const [text = ''] = mailServer.mails;
    expect(text).toContain(`Message-ID: <${id}@unsilent.example>`);
    expect(text).toContain('Subject: Unsilent: 1 conversation waits for a person');
    expect(text).toContain('To: desk@example.com');
    expect(text).toContain('since 2026-11-30');
    expect(text).toContain(CONSOLE_URL);
    expect(text).not.toMatch(/3125550142|sink/i);
    expect(await deliveries()).toEqual([{ state: 'sent', attempts: 1, code: null }]);
    expect(await deliver()).toBe(0);
  });

  it('by webhook is signed, and its id is the notice’s [C7] [C8]', async () => {
    await connectHook();
    const id = await noticed();
    await deliver();
    const [seen] = receiver.seen;
    const headers = Object.fromEntries(
      Object.entries(seen?.headers ?? {}).map(([name, value]) => [name, String(value)]),
    );
    expect(headers['webhook-id']).toBe(id);
    expect(new Webhook(SECRET).verify(seen?.body ?? '', headers)).toEqual({
      type: 'notice.created',
      timestamp: expect.stringMatching(/^2026-.*Z$/),
      data: {
        noticeId: id,
        businessId: expect.stringMatching(/^biz_/),
        queue: 'front-desk',
        items: [{ kind: 'handoff', count: 1, oldestAt: expect.stringMatching(/^2026-.*Z$/) }],
        consoleUrl: CONSOLE_URL,
      },
    });
    expect(await deliveries()).toEqual([{ state: 'sent', attempts: 1, code: null }]);
  });

  it('is made once by loops that run at the same time [T6]', async () => {
    await connectMail();
    await noticed();
    await Promise.all([deliver(), deliver(), deliver()]);
    expect(mailServer.mails).toHaveLength(1);
  });

  it.each([
    ['refuses for now', 'data', 451],
    ['refuses the recipient for now', 'rcpt', 450],
  ] as const)(
    'by a mail server that %s comes again after 1, 5, 30 and 120 s, then has failed and is logged [IN4]',
    async (_name, at, code) => {
      await connectMail();
      await noticed();
      mailServer.refuse(at, code);
      const tries: number[] = [];
      for (let second = 0; second <= 300; second += 1) {
        if ((await deliver()) > 0) tries.push(second);
        world.clock.advance(1_000);
      }
      const gaps = tries.slice(1).map((second, index) => second - (tries[index] ?? 0));
      // A second of jitter at most, and a second between two looks.
      expect(gaps.map((gap, index) => gap - ([1, 5, 30, 120][index] ?? 0) <= 2)).toEqual(
        Array(4).fill(true),
      );
      expect(gaps.every((gap, index) => gap >= ([1, 5, 30, 120][index] ?? 0))).toBe(true);
      expect(await deliveries()).toEqual([{ state: 'failed', attempts: 5, code: `smtp-${code}` }]);
      expect(logged).toHaveLength(1);
      expect(JSON.stringify(logged)).not.toContain('example.com');
    },
  );

  it('by a mail server that refuses one recipient of two reaches the other, and the refusal is logged [C7]', async () => {
    const to = ['gone@example.com', 'kept@example.com'];
    await connect(world, { kind: 'notice-email', settings: { to } });
    await noticed();
    mailServer.refuse('rcpt', 550);
    await deliver();
    expect(mailServer.mails).toHaveLength(1);
    expect(await deliveries()).toEqual([{ state: 'sent', attempts: 1, code: null }]);
    expect(logged).toEqual(['a mail server refused some recipients of a notice']);
  });

  it('that failed once arrives with the next try, under the same Message-ID [IN4]', async () => {
    await connectMail();
    const id = await noticed();
    mailServer.refuse('data', 421);
    await deliver();
    mailServer.refuse(null);
    world.clock.advance(1_300);
    await deliver();
    expect(mailServer.mails).toEqual([expect.stringContaining(`<${id}@unsilent.example>`)]);
    expect(await deliveries()).toEqual([{ state: 'sent', attempts: 2, code: null }]);
  });

  it('honours Retry-After of a webhook’s receiver [IN4]', async () => {
    await connectHook();
    await noticed();
    receiver.answer = (response) => response.writeHead(429, { 'retry-after': '40' }).end();
    await deliver();
    receiver.answer = (response) => response.writeHead(204).end();
    world.clock.advance(39_999);
    expect(await deliver()).toBe(0);
    world.clock.advance(1);
    expect(await deliver()).toBe(1);
    expect(await deliveries()).toMatchObject([{ state: 'sent', attempts: 2 }]);
  });

  it('whose worker was lost is made by another one after its lease [IN4]', async () => {
    await connectHook();
    await noticed();
    await world.rows(
      `update notice_deliveries set state = 'sending', attempts = 1, lease_until = $1`,
      [new Date(world.clock.epochMs + 60_000).toISOString()],
    );
    expect(await deliver()).toBe(0);
    world.clock.advance(60_000);
    expect(await deliver()).toBe(1);
    expect(await deliveries()).toMatchObject([{ state: 'sent', attempts: 2 }]);
  });

  it('whose worker was lost ends where its integration was paused meanwhile [IN4]', async () => {
    await connectHook();
    await noticed();
    await world.rows(
      `update notice_deliveries set state = 'sending', attempts = 1, lease_until = $1`,
      [new Date(world.clock.epochMs + 60_000).toISOString()],
    );
    await world.rows('update integrations set paused_at = $1', [world.clock.iso]);
    await deliver();
    expect(await deliveries()).toMatchObject([{ state: 'sending' }]);
    world.clock.advance(60_000);
    expect(await deliver()).toBe(0);
    expect(receiver.seen).toEqual([]);
    expect(await deliveries()).toEqual([
      { state: 'failed', attempts: 1, code: 'integration-paused' },
    ]);
  });

  it('is not tried by another worker while the first try may live [T6] [IN4]', async () => {
    await connectHook();
    await noticed();
    let answer: (outcome: NoticeOutcome) => void = () => undefined;
    const answered = new Promise<NoticeOutcome>((resolve) => (answer = resolve));
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const slow = deliver({
      'notice-webhook': () => {
        begin();
        return answered;
      },
    });
    await begun;
    world.clock.advance(NOTICE_SEND_DEADLINE_MS);
    expect(await deliver()).toBe(0);
    answer({ kind: 'accepted' });
    await slow;
    expect(await deliveries()).toEqual([{ state: 'sent', attempts: 1, code: null }]);
  });

  it('whose worker dies at every try is given up after the fifth, which is logged [IN4]', async () => {
    await connectHook();
    const noticeId = await noticed();
    const died = () => Promise.reject(new Error('the process ended'));
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      expect(await deliver({ 'notice-webhook': died })).toBe(1);
      world.clock.advance(60_000);
    }
    logged.length = 0;
    expect(await deliver({ 'notice-webhook': died })).toBe(0);
    expect(await deliveries()).toEqual([{ state: 'failed', attempts: 5, code: 'attempts_lost' }]);
    expect(logged).toEqual([
      [
        'a notice was given up: its last try lost its worker',
        { noticeId, integrationId: expect.stringMatching(/^int_/), attempt: 5 },
      ],
    ]);
  });

  it('that breaks down leaves the others to be delivered and recorded, and is logged [C7]', async () => {
    await connectHook();
    await connectMail();
    const noticeId = await noticed();
    const broken = () => Promise.reject(new Error('broken'));
    const tried = deliver({ 'notice-email': broken });
    expect(await tried).toBe(2);
    expect(receiver.seen).toHaveLength(1);
    expect((await deliveries()).map(({ state }) => state).sort()).toEqual(['sending', 'sent']);
    expect(logged).toEqual([
      ['what became of a notice was not recorded', expect.objectContaining({ noticeId })],
    ]);
    world.clock.advance(60_000);
    expect(await deliver()).toBe(1);
    expect(mailServer.mails).toHaveLength(1);
  });

  const items = () =>
    world.rows(`select kind, reason, subject_id from work_items
    where kind = 'credentials' and resolved_at is null`);
  const pauses = () =>
    world.rows('select id, paused_reason as reason from integrations order by id');

  it('to a receiver that refuses the signature pauses that integration alone and opens one item [IN4]', async () => {
    const ids = { mail: await connectMail(), hook: await connectHook() };
    await noticed();
    receiver.answer = (response) => response.writeHead(401).end();
    await deliver();
    expect(await pauses()).toEqual([
      { id: ids.mail, reason: null },
      { id: ids.hook, reason: 'http-401' },
    ]);
    const opened = [{ kind: 'credentials', reason: 'http-401', subject_id: ids.hook }];
    expect(await items()).toEqual(opened);
    receiver.answer = (response) => response.writeHead(204).end();
    // Its own item is told over the integration that still works.
    world.clock.advance(30_000);
    await round(world);
    await deliver();
    expect(await items()).toEqual(opened);
    const carried = await world.rows(
      `select integration_id as id, state from notice_deliveries d join notices n
         on n.id = d.notice_id where n.queue = 'operators'`,
    );
    expect(carried).toEqual([{ id: ids.mail, state: 'sent' }]);
  });

  it('over settings that nobody can use ends at once and is logged [IN4]', async () => {
    await connect(world, { kind: 'notice-webhook', settings: { url: 'nowhere' }, secret: SECRET });
    await connect(world, { kind: 'notice-email', settings: {} });
    await openItem(world, { kind: 'not-sent' });
    await round(world);
    await deliver();
    expect(await deliveries()).toEqual(
      Array(2).fill({ state: 'failed', attempts: 1, code: 'settings-unusable' }),
    );
    expect(logged).toHaveLength(2);
  });
});
