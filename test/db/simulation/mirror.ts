import { makeConversationActivities } from '../../../activities';
import type { ActivityDependencies, Engine } from '../../../activities/dependencies';
import type { ChannelSender } from '../../../channels/port';
import { updateCredentials } from '../../../db/accounts';
import { databaseClock } from '../../../db/clock';
import { runStaffCommand } from '../../../db/commands/run';
import { escalateOverdue } from '../../../db/escalations';
import { ingest } from '../../../db/ingest/ingest';
import type { PreparedElement } from '../../../db/ingest/request';
import { newId } from '../../../db/new-id';
import { DEMO_BUSINESS } from '../../../dev/demo';
import { CHANNELS, type Channel, type InboundElement } from '../../../domain/inbound';
import { sweepOnce } from '../../../upkeep/sweep';
import type { Action } from '../../simulation/machine/actions';
import { databaseNowMs, type Task, type World as Simulated } from '../../simulation/machine/world';
import { at } from '../../simulation/model/facts';
import type { ThreadElement } from '../../simulation/model/ingest';
import { prepared, requestOf } from '../../support/inbound';
import type { World } from '../../support/world';
import { setDatabaseClock } from './database-clock';
import { ACCOUNTS, accountOf, PHONES, toInbound } from './elements';
import { Flow, holdAtStops } from './flow';
import { projectDatabase, projectModel, type Stored } from './projection';

const SILENT = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  fatal: () => undefined,
};

/** The engine of the model: the lead's newest words say what it proposes. */
const engine: Engine = {
  understand: () => ({
    serviceId: null,
    jobLabel: null,
    location: null,
    urgency: null,
    wantsPerson: false,
    complains: false,
    wantsPrice: false,
    wantsBooking: false,
    bareOpener: false,
    language: 'en',
  }),
  draft: (thread) => {
    const newest = thread.findLast(({ from }) => from === 'lead')?.text;
    if (newest === 'person') return { kind: 'handoff', reason: 'lead_requested_human' };
    if (newest === 'thanks') return { kind: 'no-answer', reason: 'thanks' };
    return { kind: 'reply', text: `Thanks for ${thread.at(-1)?.seq ?? 0}.`, verdict: 'meaningful' };
  },
};

/** What the mirror's dependencies read while an activity of the real database runs. */
export interface MirrorScript {
  simulated: Simulated | null;
  task: Task | null;
}

/** Dependencies whose clock, provider and failpoints follow the simulated world. */
export function mirrorDependencies(script: MirrorScript): Partial<ActivityDependencies> {
  const simulated = (): Simulated => {
    if (script.simulated === null) throw new Error('nothing is simulated');
    return script.simulated;
  };
  const sender = (channel: Channel): ChannelSender => ({
    channel,
    get replyWindowMs() {
      return simulated().options.replyWindowMs;
    },
    get canReadBack() {
      return simulated().options.canReadBack;
    },
    fits: () => true,
    send: () => {
      const outcome = script.task?.outcome ?? null;
      if (outcome === null) throw new Error('the model made no call');
      return Promise.resolve(outcome);
    },
    readBack: () => {
      const { acceptance = null, reviewCode = '' } = script.task ?? {};
      if (acceptance !== null) {
        return Promise.resolve({
          kind: 'found',
          providerMessageId: acceptance.providerMessageId,
        } as const);
      }
      if (reviewCode === 'absent_on_read_back') return Promise.resolve({ kind: 'absent' } as const);
      return Promise.resolve({ kind: 'unavailable', code: reviewCode } as const);
    },
  });
  const senders = Object.fromEntries(CHANNELS.map((channel) => [channel, sender(channel)]));
  return {
    senders: senders as Record<Channel, ChannelSender>,
    engine,
    clock: databaseClock,
    reach: holdAtStops,
  };
}

/** Does on the real database what the model has just done, and compares what both have then. */
export class Mirror {
  private readonly flows = new Map<Task, Flow>();
  private readonly conversationIds = new Map<number, string>();
  private readonly stored = new Map<number, Stored>();

  constructor(
    private readonly world: World,
    private readonly script: MirrorScript,
    private readonly simulated: Simulated,
  ) {
    script.simulated = simulated;
  }

  /** The counterpart of one step. What only schedules has none. */
  async follow(action: Action): Promise<void> {
    await setDatabaseClock(this.world, databaseNowMs(this.simulated));
    switch (action.do) {
      case 'lead':
      case 'native':
        return this.write(this.simulated.written.length - 1);
      case 'repeat':
        return this.write(action.n);
      case 'status':
      case 'echo':
        return this.report(action);
      case 'staff':
        return this.command(action);
      case 'run':
      case 'late-worker':
        return this.goOn();
      case 'sweep':
        return this.sweep();
      case 'mend':
        return this.mend();
      default:
    }
  }

  private async write(n: number): Promise<void> {
    const { conversation: c, element } = at(this.simulated.written, n);
    const { account, address } = at(this.simulated.facts.conversations, c);
    await this.ingest(account, toInbound(account, address, element, await this.textOf(element)));
    if (!this.conversationIds.has(c)) this.conversationIds.set(c, await this.findConversation(c));
  }

  /** Where an echo repeats a send of ours, its very words. */
  private async textOf(element: ThreadElement): Promise<string> {
    if (element.type === 'message' || element.repeats === null) return 'I will call you.';
    const id = this.sendIdOf(element.repeats);
    const [row] = await this.world.rows('select body from outbox where id = $1', [id]);
    return String(row?.['body']);
  }

  private async ingest(account: number, item: PreparedElement): Promise<void> {
    const { provider } = accountOf(account);
    await ingest(this.world.database.service, requestOf([item], provider), null);
  }

  private async findConversation(c: number): Promise<string> {
    const { account, address } = at(this.simulated.facts.conversations, c);
    const rows = await this.world.rows(
      `select c.id from conversations c join addresses a on a.lead_id = c.lead_id
       where c.channel = $1 and a.value = $2`,
      [at(ACCOUNTS, account), at(PHONES, address)],
    );
    return String(rows[0]?.['id']);
  }

  private async report(action: Extract<Action, { do: 'status' | 'echo' }>): Promise<void> {
    const { account, attemptId, providerMessageId } = at(this.simulated.accepted, action.n);
    const status = action.do === 'status' ? action.status : null;
    const base = {
      path: '$[0]',
      channel: at(ACCOUNTS, account),
      accountExternalId: accountOf(account).externalId,
      eventKey: `${action.do}-${providerMessageId}-${status ?? 'seen'}`,
      stableContent: providerMessageId,
      source: { at: null, precision: 'none' },
      providerMessageId,
      attemptRef: action.named ? this.attemptIdOf(attemptId) : null,
    } as const;
    const element: InboundElement =
      status === null
        ? { ...base, type: 'echo', to: [], author: 'ours', text: null }
        : {
            ...base,
            type: 'status',
            status,
            errorCode: status === 'failed' ? '30005' : null,
            watermark: null,
          };
    await this.ingest(account, prepared(element));
  }

  private async command({ c, command }: Extract<Action, { do: 'staff' }>): Promise<void> {
    const result = await runStaffCommand(
      this.world.database.staff,
      {
        businessId: DEMO_BUSINESS.id,
        role: 'agent',
        command,
        conversationId: this.idOf(c),
        idempotencyKey: newId('cmd'),
        seenSeq: 1_000_000,
      },
      null,
    );
    expect(result.kind).toBe('done');
  }

  private async goOn(): Promise<void> {
    const { lastEffect } = this.simulated;
    if (lastEffect === null) throw new Error('an effect left no trace');
    const { task, agenda } = lastEffect;
    this.script.task = task;
    const flow = this.flows.get(task) ?? this.begin(task);
    const halt = await flow.advance();
    if (halt.kind === 'held') {
      expect({ ...lastEffect, held: halt.point }).toMatchObject({ agenda: null });
      return;
    }
    this.flows.delete(task);
    expect(agenda).not.toBeNull();
    expect(shapeOf(halt.agenda)).toEqual(shapeOf(agenda));
  }

  private begin(task: Task): Flow {
    const flow = new Flow(() => this.activity(task));
    this.flows.set(task, flow);
    return flow;
  }

  private activity(task: Task) {
    const workerId = `worker-${task.worker}`;
    const activities = makeConversationActivities({ ...this.world.dependencies, workerId });
    const conversationId = this.idOf(task.conversation);
    const { step } = task;
    switch (step.kind) {
      case 'take-turn':
        return activities.takeTurn({ conversationId });
      case 'deliver':
        return activities.deliver({ conversationId, sendId: this.sendIdOf(step.sendId) });
      case 'resolve':
        return activities.resolve({ conversationId, sendId: this.sendIdOf(step.sendId) });
      case 'expire':
        return activities.expireSend({ conversationId, sendId: this.sendIdOf(step.sendId) });
      case 'escalate': {
        const workItemId = this.itemIdOf(task.conversation, step.workItemId);
        return activities.escalate({ conversationId, workItemId });
      }
      case 'follow-up':
        return this.followUp(conversationId, step);
    }
  }

  private async followUp(
    conversationId: string,
    { planId, step }: { readonly planId: string; readonly step: number },
  ) {
    const episode = Number(planId.split('/')[1]);
    const [plan] = await this.world.rows(
      'select id from follow_up_plans where conversation_id = $1 and episode = $2',
      [conversationId, episode],
    );
    const { writeFollowUp } = makeConversationActivities(this.world.dependencies);
    return writeFollowUp({ conversationId, planId: String(plan?.['id']), step });
  }

  private async sweep(): Promise<void> {
    const { service: pool } = this.world.database;
    const accepted = this.simulated.temporalUpAtMs <= this.simulated.nowMs;
    const waker = {
      wake: () => Promise.resolve(accepted),
      wakeSoon: () => undefined,
      idle: () => Promise.resolve(),
    };
    await sweepOnce({ pool, waker, clock: databaseClock, log: SILENT });
    await escalateOverdue(pool, { olderThanMs: 60_000, limit: 100, now: null });
  }

  private async mend(): Promise<void> {
    for (const account of this.simulated.facts.accounts.keys()) {
      await updateCredentials(
        this.world.database.service,
        accountOf(account).id,
        { accessToken: 'mended' },
        null,
      );
    }
  }

  private idOf(c: number): string {
    const id = this.conversationIds.get(c);
    if (id === undefined) throw new Error(`conversation ${c} is not stored`);
    return id;
  }

  private sendIdOf(sendId: string): string {
    for (const conversation of this.simulated.facts.conversations) {
      const place = conversation.sends.findIndex(({ id }) => id === sendId);
      if (place >= 0) return at(this.storedOf(conversation.index).sendIds, place);
    }
    throw new Error(`no send ${sendId}`);
  }

  private itemIdOf(c: number, itemId: string): string {
    const { items } = at(this.simulated.facts.conversations, c);
    const place = items.findIndex(({ id }) => id === itemId);
    return at(this.storedOf(c).itemIds, place);
  }

  private attemptIdOf(attemptId: string): string {
    const { attempts } = this.simulated.facts;
    const { conversation: c } = at(attempts, Number(attemptId.slice(1)));
    const place = attempts
      .filter(({ conversation }) => conversation === c)
      .findIndex(({ id }) => id === attemptId);
    return at(this.storedOf(c).attemptIds, place);
  }

  private storedOf(c: number): Stored {
    const stored = this.stored.get(c);
    if (stored === undefined) throw new Error(`conversation ${c} was not read yet`);
    return stored;
  }

  /** Both sides have the same facts. */
  async compare(): Promise<void> {
    for (const [c, id] of this.conversationIds) {
      const stored = await projectDatabase(this.world, id);
      this.stored.set(c, stored);
      const model = projectModel(this.simulated.facts, at(this.simulated.facts.conversations, c));
      expect(stored.projection).toEqual(model);
    }
  }

  async end(): Promise<void> {
    for (const flow of this.flows.values()) await flow.abandon();
    this.flows.clear();
  }
}

/** An agenda without its ids: what is due, and when. */
function shapeOf(agenda: Awaited<ReturnType<Flow['advance']>> | object | null) {
  const { state, owner, owed, escalated, items } = agenda as {
    readonly items: readonly {
      readonly step: { readonly kind: string };
      readonly dueInMs: number;
    }[];
  } & Record<string, unknown>;
  const due = items.map(({ step, dueInMs }) => `${step.kind} in ${dueInMs}`);
  return { state, owner, owed, escalated, due };
}
