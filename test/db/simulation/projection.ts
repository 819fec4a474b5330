import { at, type Conversation, type Facts } from '../../simulation/model/facts';
import type { World } from '../../support/world';

/** Facts as both sides tell them: rows by their order, references by what they point at. */
export interface Projection {
  readonly conversation: Readonly<Record<string, unknown>>;
  readonly messages: readonly string[];
  readonly sends: readonly string[];
  readonly attempts: readonly string[];
  readonly items: readonly string[];
  readonly steps: readonly string[];
}

type Cell = string | number | boolean | null;

function line(...cells: readonly Cell[]): string {
  return cells.map((cell) => (cell === null ? '-' : String(cell))).join(' ');
}

/** The model's facts of one conversation. */
export function projectModel(facts: Facts, conversation: Conversation): Projection {
  const sends = conversation.sends.map(({ id }) => id);
  const items = conversation.items.map(({ id }) => id);
  const c = conversation;
  return {
    conversation: {
      state: c.state,
      remembered: c.remembered,
      version: c.version,
      episode: c.episode,
      owner: c.owner,
      lastSeq: c.lastSeq,
      lastInboundSeq: c.lastInboundSeq,
      token: c.owedSince,
      lastToken: c.lastToken,
      oldestOwedAtMs: c.oldestOwedAtMs,
      overdueFromMs: c.overdueFromMs,
      turnDueAtMs: c.turnDueAtMs,
      draftWithdrawals: c.draftWithdrawals,
      contactStartedAtMs: c.contactStartedAtMs,
      optOutConfirmedAtMs: c.optOutConfirmedAtMs,
      nextDueAtMs: c.nextDueAtMs,
      turnAttempt: c.marker?.attempt ?? null,
      turnThrown: c.marker?.thrown ?? null,
      replays: c.replays,
      optedOut: at(facts.addresses, c.address).optedOutAtMs !== null,
      accountPaused: at(facts.accounts, c.account).pausedAtMs !== null,
    },
    messages: c.messages.map((m) =>
      line(m.seq, m.author, m.owes, m.settlement, refOf(m.settledBy, sends, items), m.reason),
    ),
    sends: c.sends.map((s) =>
      line(
        ...[s.purpose, s.state, s.coversSeq, s.token, s.notBeforeMs, s.expiresAtMs, s.stands],
        ...[s.attempts, s.stopRequestedAtMs, s.stopVerdict, s.endReason, s.providerMessageId],
      ),
    ),
    attempts: facts.attempts
      .filter((attempt) => attempt.conversation === c.index)
      .map((a) =>
        line(
          ...[`s${sends.indexOf(a.sendId)}`, a.number, a.startedAtMs, a.sawSeq, a.marker !== null],
          a.outcomes.map(({ outcome }) => outcome).join(','),
        ),
      ),
    items: c.items.map((i) =>
      line(
        ...[i.kind, i.reason, i.sendId === null ? null : `s${sends.indexOf(i.sendId)}`],
        ...[i.newestSeq, i.level, i.nextEscalationAtMs, i.resolution !== null],
      ),
    ),
    steps: c.plans.flatMap((plan) =>
      plan.steps.map((s) => line(plan.episode, s.step, s.dueAtMs, s.written, plan.stopReason)),
    ),
  };
}

/** A reference by its place among the sends or items, or as it is (a message's seq). */
function refOf(
  ref: string | null,
  sends: readonly string[],
  items: readonly string[],
): string | null {
  if (ref === null) return null;
  if (sends.includes(ref)) return `s${sends.indexOf(ref)}`;
  if (items.includes(ref)) return `w${items.indexOf(ref)}`;
  return /^\d+$/.test(ref) ? ref : 'other';
}

const MS = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`;
const US = (column: string) => `(extract(epoch from ${column}) * 1000000)::float8`;

const PROJECT = `
  select jsonb_build_object('state', c.state, 'remembered', c.remembered_state,
      'version', c.version, 'episode', c.episode, 'owner', c.owner, 'lastSeq', c.last_seq,
      'lastInboundSeq', c.last_inbound_seq, 'token', ${US('c.owed_since')},
      'lastToken', ${US('c.last_token')}, 'oldestOwedAtMs', ${MS('c.oldest_owed_at')},
      'overdueFromMs', ${MS('c.overdue_from')}, 'turnDueAtMs', ${MS('c.turn_due_at')},
      'draftWithdrawals', c.draft_withdrawals,
      'contactStartedAtMs', ${MS('c.contact_started_at')},
      'optOutConfirmedAtMs', ${MS('c.opt_out_confirmed_at')},
      'nextDueAtMs', ${MS('c.next_due_at')}, 'turnAttempt', k.attempt,
      'turnThrown', k.thrown_at is not null and k.attempt is not null, 'replays', c.replays,
      'optedOut', d.opted_out_at is not null, 'accountPaused', a.paused_at is not null)
      as conversation,
    coalesce((select jsonb_agg(jsonb_build_array(m.seq, m.author, m.owes, m.settlement,
        m.settlement_ref, m.settlement_reason, m.id) order by m.seq)
      from messages m where m.conversation_id = c.id), '[]') as messages,
    coalesce((select jsonb_agg(jsonb_build_array(o.purpose, o.state, o.covers_seq,
        ${US('o.token')}, ${MS('o.not_before')}, ${MS('o.expires_at')}, o.stands, o.attempts,
        ${MS('o.stop_requested_at')}, o.stop_verdict, o.end_reason, o.provider_message_id, o.id)
        order by o.id) from outbox o where o.conversation_id = c.id), '[]') as sends,
    coalesce((select jsonb_agg(jsonb_build_array(t.send_id, t.number, ${MS('t.started_at')},
        t.saw_seq, exists (select from sent_markers x where x.attempt_id = t.id),
        coalesce((select string_agg(r.outcome, ',' order by r.ordinal) from send_outcomes r
          where r.attempt_id = t.id), ''), t.id) order by t.id)
      from send_attempts t where t.conversation_id = c.id), '[]') as attempts,
    coalesce((select jsonb_agg(jsonb_build_array(w.kind, w.reason, w.send_id, w.newest_seq,
        w.level, ${MS('w.next_escalation_at')}, w.resolved_at is not null, w.id) order by w.id)
      from work_items w where w.conversation_id = c.id), '[]') as items,
    coalesce((select jsonb_agg(jsonb_build_array(p.episode, s.step, ${MS('s.due_at')},
        s.written_at is not null, p.stop_reason) order by p.episode, s.step)
      from follow_up_steps s join follow_up_plans p on p.id = s.plan_id
      where s.conversation_id = c.id), '[]') as steps
  from conversations c join accounts a on a.id = c.account_id
  join addresses d on d.id = c.address_id
  left join turn_markers k on k.conversation_id = c.id
  where c.id = $1`;

interface Row {
  readonly conversation: Record<string, unknown>;
  readonly messages: Cell[][];
  readonly sends: Cell[][];
  readonly attempts: Cell[][];
  readonly items: Cell[][];
  readonly steps: Cell[][];
}

export interface Stored {
  readonly projection: Projection;
  /** The ids of the sends and items, in the order in which they were made. */
  readonly sendIds: readonly string[];
  readonly itemIds: readonly string[];
  readonly attemptIds: readonly string[];
}

function lastOf(rows: readonly Cell[][]): string[] {
  return rows.map((row) => String(row.at(-1)));
}

/** The same facts as Postgres has them. */
export async function projectDatabase(world: World, conversationId: string): Promise<Stored> {
  const { rows } = await world.database.owner.query<Row>(PROJECT, [conversationId]);
  const [row] = rows;
  if (row === undefined) throw new Error('there is no such conversation');
  const [sendIds, itemIds, messageIds] = [row.sends, row.items, row.messages].map(lastOf);
  const refs = { sends: sendIds ?? [], items: itemIds ?? [], messages: messageIds ?? [] };
  const name = (ref: Cell | undefined): string | null => {
    if (typeof ref !== 'string') return null;
    const message = refs.messages.indexOf(ref);
    return message >= 0 ? String(row.messages[message]?.[0]) : refOf(ref, refs.sends, refs.items);
  };
  const named = (cells: readonly Cell[], place: number): string =>
    line(...cells.slice(0, -1).map((cell, index) => (index === place ? name(cell) : cell)));
  const { conversation } = row;
  const turnThrown = conversation['turnAttempt'] === null ? null : conversation['turnThrown'];
  return {
    projection: {
      conversation: { ...conversation, turnThrown },
      messages: row.messages.map((cells) => named(cells, 4)),
      sends: row.sends.map((cells) => line(...cells.slice(0, -1))),
      attempts: row.attempts.map((cells) => named(cells, 0)),
      items: row.items.map((cells) => named(cells, 2)),
      steps: row.steps.map((cells) => line(...cells)),
    },
    sendIds: refs.sends,
    itemIds: refs.items,
    attemptIds: lastOf(row.attempts),
  };
}
