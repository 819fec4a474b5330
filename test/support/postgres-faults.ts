import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { Pool } from 'pg';
import { run, statement } from '../../db/database';
import type { TestDatabase } from './database';

/** Any number that nothing else of the tests locks. */
const LOCK = 4_242;

const findWaiter = statement<{ pid: number }>(
  'find-lock-waiter',
  `select pid from pg_locks where locktype = 'advisory' and objid = ${LOCK} and not granted
   and database = (select oid from pg_database where datname = current_database())`,
);

const terminate = statement('terminate-backend', 'select pg_terminate_backend($1)');

/** Transactions of the service that stand still, in a statement or inside their COMMIT. */
export interface HeldTransactions {
  /** Resolves once a transaction stands at the lock. */
  waiting(): Promise<void>;
  /** Ends the backend of the transaction that stands at the lock. */
  terminate(): Promise<void>;
  /** Lets what waits go on; later transactions pass. Safe to repeat. */
  release(): Promise<void>;
}

/**
 * Holds every transaction that stores a raw delivery while `work` runs: `before-commit` in the
 * statement, `in-commit` in a deferred trigger, which runs while COMMIT is being carried out. They
 * are let go at the latest when `work` ends, however it ends.
 */
export async function whileHeld<Result>(
  database: TestDatabase,
  place: 'before-commit' | 'in-commit',
  work: (held: HeldTransactions) => Promise<Result>,
): Promise<Result> {
  const held = await holdTransactions(database, place);
  try {
    return await work(held);
  } finally {
    await held.release();
  }
}

async function holdTransactions(
  { owner }: TestDatabase,
  place: 'before-commit' | 'in-commit',
): Promise<HeldTransactions> {
  const locker = await owner.connect();
  await locker.query(`select pg_advisory_lock(${LOCK})`);
  await owner.query(
    `create or replace function stand_still() returns trigger language plpgsql as $$
     begin perform pg_advisory_xact_lock(${LOCK}); return null; end $$`,
  );
  const timing = place === 'in-commit' ? 'deferrable initially deferred' : '';
  const kind = place === 'in-commit' ? 'constraint trigger' : 'trigger';
  await owner.query(
    `create ${kind} stand_still after insert on raw_deliveries ${timing}
     for each row execute function stand_still()`,
  );
  let released = false;
  const waiter = () => until(async () => (await run(owner, findWaiter))[0], 'a transaction waits');
  return {
    waiting: async () => {
      await waiter();
    },
    terminate: async () => {
      await run(owner, terminate, [(await waiter()).pid]);
    },
    release: async () => {
      if (released) return;
      released = true;
      await locker.query(`select pg_advisory_unlock(${LOCK})`);
      locker.release();
      await owner.query('drop trigger stand_still on raw_deliveries');
    },
  };
}

const findBlocked = statement<{ pid: number }>(
  'find-blocked-transaction',
  `select l.pid from pg_locks l join pg_stat_activity a using (pid)
   where l.locktype = 'transactionid' and not l.granted and a.datname = current_database()`,
);

/** Resolves once so many transactions wait for another one's row. */
export async function blockedOnRow({ owner }: TestDatabase, count = 1): Promise<void> {
  await until(
    async () => (await run(owner, findBlocked))[count - 1],
    `${count} transactions wait for a row`,
  );
}

/** Asks until there is an answer; the database's own round trips are the pace. */
async function until<Found>(
  look: () => Promise<Found | undefined>,
  what: string,
  limitMs = 10_000,
): Promise<Found> {
  const endsAt = Date.now() + limitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > endsAt) throw new Error(`it never came true that ${what}`);
  }
}

/**
 * Makes writes of a table fail with an SQLSTATE, as Postgres would: always, or the first
 * `times` times. Returns what mends it.
 */
export async function failWrites(
  owner: Pool,
  failure: { readonly table: string; readonly sqlState: string; readonly times?: number },
): Promise<() => Promise<void>> {
  const { table, sqlState, times = 1_000_000 } = failure;
  await owner.query('create sequence refusals');
  await owner.query('grant usage on refusals to public');
  await owner.query(
    `create function refuse_write() returns trigger language plpgsql as $$ begin
       if nextval('refusals') <= ${times} then
         raise exception 'refused: +13125550142' using errcode = '${sqlState}';
       end if;
       return new;
     end $$`,
  );
  await owner.query(
    `create trigger refuse_write before insert or update on ${table}
     for each row execute function refuse_write()`,
  );
  return async () => {
    await owner.query(`drop trigger refuse_write on ${table}`);
    await owner.query('drop function refuse_write; drop sequence refusals');
  };
}

/** A way to Postgres that can lose the answer to a COMMIT. */
export interface CommitProxy {
  /** The address of the database by way of the proxy. */
  readonly url: string;
  /**
   * Eats the reply to the next COMMIT: `cut` ends the connection instead, `silent` leaves it open
   * and says nothing more.
   */
  eatNextReply(manner: 'cut' | 'silent'): void;
  close(): Promise<void>;
}

const COMMIT = Buffer.from('commit\0');

/** Starts a proxy in front of the database behind `targetUrl`. */
export async function startCommitProxy(targetUrl: string): Promise<CommitProxy> {
  const target = new URL(targetUrl);
  const sockets = new Set<Socket>();
  let armed: 'cut' | 'silent' | null = null;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    let eating: 'cut' | 'silent' | null = null;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      // The other side sees the end; what broke is the point of the proxy.
      socket.on('error', () => socket.destroy());
    }
    client.on('data', (data) => {
      if (armed !== null && data.includes(COMMIT)) {
        eating = armed;
        armed = null;
      }
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      if (eating === null) client.write(data);
      else if (eating === 'cut') client.destroy();
    });
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = new URL(targetUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.toString(),
    eatNextReply: (manner) => {
      armed = manner;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A way to Postgres that can break down: every connection by way of it ends, and none begins. */
export interface BreakableWay {
  /** The address of the database by way of it. */
  readonly url: string;
  breakDown(): void;
  mend(): void;
  /** How many connections were tried in vain. */
  readonly refusals: number;
  close(): Promise<void>;
}

/** Starts a breakable way to the database behind `targetUrl`. */
export async function startBreakableWay(targetUrl: string): Promise<BreakableWay> {
  const target = new URL(targetUrl);
  const sockets = new Set<Socket>();
  let broken = false;
  let refusals = 0;
  const endAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((client) => {
    if (broken) {
      refusals += 1;
      client.destroy();
      return;
    }
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      // The other side sees the end; what broke is the point of the way.
      socket.on('error', () => socket.destroy());
    }
    client.pipe(upstream);
    upstream.pipe(client);
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = new URL(targetUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.toString(),
    breakDown: () => {
      broken = true;
      endAll();
    },
    mend: () => {
      broken = false;
    },
    get refusals() {
      return refusals;
    },
    close: async () => {
      endAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
