import type { PoolClient } from 'pg';
import type { EchoElement, MessageElement } from '../../domain/inbound';
import type { WorkItemId } from '../../domain/ids';
import { lockConversation, type Instant, type LockedConversation } from '../conversations';
import { run, statement } from '../database';
import { settleDebt } from '../debt';
import { withdrawDraftOf } from '../draft-withdrawal';
import { sha256 } from '../digest';
import { newId } from '../new-id';
import { findOpenHandoff, joinOpenHandoff } from '../work-items';
import {
  applyLeadMessage,
  isMessage,
  openItemForOwner,
  oweAnswer,
  revise,
  takeOverByNative,
} from './effects';
import type { Home } from './homes';
import { advanceCounters, openTraces, writeJobs, writeMessages, type NewMessage } from './messages';
import type { NewElement } from './receipts';
import { confirmEcho } from './statuses';
import type { IngestRequest } from './request';

interface Entry {
  readonly item: NewElement;
  readonly message: NewMessage;
}

/** What an ingest did to a conversation: a new debt, another change, or nothing that matters. */
export type ThreadEffect = 'owed' | 'changed' | 'nothing';

/**
 * The third step of an ingest, for one locked conversation: messages, state, cancellations, debt,
 * jobs and traces, from what the elements mean. Runs with fresh snapshots behind the locks.
 */
export async function applyThread(
  client: PoolClient,
  home: Home,
  ingress: IngestRequest['ingress'],
  instant: Instant,
): Promise<ThreadEffect> {
  const echoes = await readEchoes(client, home, instant.now);
  const conversation = echoes.proved ? await reread(client, home) : home.conversation;
  const joinsItem = await handoffToJoin(client, conversation);
  const entries = toEntries({ ...home, conversation }, echoes.foreign, joinsItem);
  const messages = entries.map((entry) => entry.message);
  await writeMessages(client, conversation, messages, instant.now);
  // A message may come with its own revision in one batch.
  await applyRevisions(client, home, instant.now);
  if (entries.length === 0) return echoes.proved ? 'changed' : 'nothing';
  await advanceCounters(client, conversation, messages, instant);
  const owing = await applyStates(client, conversation, entries, instant);
  await Promise.all([
    writeJobs(client, conversation, messages, instant.now),
    openTraces(
      client,
      conversation,
      entries.map(({ item, message }) => ({ message, prepared: item.prepared })),
      ingress,
    ),
  ]);
  const newestSeq = messages.findLast((message) => message.joinsItem !== null)?.seq;
  if (joinsItem !== null && newestSeq !== undefined) {
    await joinOpenHandoff(client, joinsItem, { newestSeq, at: instant.now });
  }
  if (owing.length > 0) {
    // A draft that waits for approval did not see them: it is withdrawn, and all owes together (T3).
    await Promise.all([
      withdrawDraftOf(client, conversation.id, { reason: 'newer_inbound', at: instant.now }),
      oweAnswer(client, conversation, owing, instant),
    ]);
    return 'owed';
  }
  const live = messages.some((message) => message.author !== 'import');
  return live || echoes.proved ? 'changed' : 'nothing';
}

/** What an echo proved has changed the row: its order, its debt, its state. */
async function reread(client: PoolClient, { conversation }: Home): Promise<LockedConversation> {
  const locked = await lockConversation(client, conversation.id, null);
  if (locked === null) throw new Error('a conversation vanished under its lock');
  return locked.conversation;
}

/**
 * While a handoff is open, new messages join it (T6), whatever the state: an opt-in or a new episode
 * lifts the state, and still a person was promised.
 */
function handoffToJoin(
  client: PoolClient,
  conversation: LockedConversation,
): Promise<WorkItemId | null> {
  return findOpenHandoff(client, conversation.id);
}

async function applyRevisions(client: PoolClient, home: Home, at: string): Promise<void> {
  for (const { prepared } of home.elements) {
    const { element } = prepared;
    if (element.type !== 'edit' && element.type !== 'delete') continue;
    await revise(client, home.conversation, {
      providerMessageSha256: sha256(element.providerMessageId),
      deleted: element.type === 'delete',
      text: element.text,
      at,
    });
  }
}

interface Echoes {
  /** Written by a person in the provider's app. */
  readonly foreign: ReadonlySet<EchoElement>;
  /** True where an echo proved a delivery that was unknown (C6). */
  readonly proved: boolean;
}

/** Echoes of our own sends are confirmations; what is left was written by a person. */
async function readEchoes(client: PoolClient, home: Home, at: string): Promise<Echoes> {
  const foreign = new Set<EchoElement>();
  let proved = false;
  for (const { prepared } of home.elements) {
    const { element } = prepared;
    if (element.type !== 'echo') continue;
    const reading = await confirmEcho(client, home.conversation, element, at);
    if (reading === 'foreign') foreign.add(element);
    proved ||= reading === 'proven';
  }
  return { foreign, proved };
}

function toEntries(
  home: Home,
  foreign: ReadonlySet<EchoElement>,
  joinsItem: string | null,
): Entry[] {
  let seq = home.conversation.lastSeq;
  let item = joinsItem;
  const drafts = home.elements.flatMap((element) => {
    const draft = toMessage(element, foreign, item);
    // A person's own answer closes the item: what the lead writes after it waits in the next one.
    if (draft?.author === 'native') item = null;
    return draft === null ? [] : [{ element, draft }];
  });
  const live = new Set(
    drafts.flatMap(({ draft }) => (draft.author === 'import' ? [] : [draft.providerMessageId])),
  );
  return drafts.flatMap(({ element, draft }) => {
    // An import may repeat what comes live in the same batch.
    if (draft.author === 'import' && live.has(draft.providerMessageId)) return [];
    seq += 1;
    const message = { ...draft, id: newId('msg'), receiptId: element.receiptId, seq };
    return [{ item: element, message }];
  });
}

type MessageDraft = Omit<NewMessage, 'id' | 'seq' | 'receiptId'>;

function toMessage(
  { prepared }: NewElement,
  foreign: ReadonlySet<EchoElement>,
  joinsItem: string | null,
): MessageDraft | null {
  const { element } = prepared;
  const base = {
    media: [],
    unsupported: false,
    optOut: null,
    sourceAt: element.source.at,
  } as const;
  switch (element.type) {
    case 'message':
      return {
        ...base,
        direction: 'in',
        author: 'lead',
        providerMessageId: element.providerMessageId,
        text: element.text,
        media: element.media,
        unsupported: element.unsupported,
        optOut: optOutOf(prepared.optOut, element.providerConfirmsOptOut),
        owes: saysSomething(element),
        joinsItem: saysSomething(element) ? joinsItem : null,
      };
    case 'echo':
      if (!foreign.has(element)) return null;
      return {
        ...base,
        direction: 'out',
        author: 'native',
        providerMessageId: element.providerMessageId,
        text: element.text,
        owes: false,
        joinsItem: null,
      };
    case 'note':
      if (element.history === null) return null;
      return {
        ...base,
        direction: element.history.direction,
        author: 'import',
        providerMessageId: element.history.providerMessageId,
        text: element.history.text,
        owes: false,
        joinsItem: null,
      };
    case 'edit':
    case 'delete':
    case 'status':
    case 'quarantined':
      return null;
  }
}

/** A preference that the provider reports ("stop", "resume") comes without words: nobody waits. */
function saysSomething(element: MessageElement): boolean {
  return element.text !== null || element.media.length > 0 || element.unsupported;
}

/** Where the provider answers the keyword itself, no confirmation of ours may follow. */
function optOutOf(optOut: string | null, providerConfirms: boolean): string | null {
  return optOut === 'stop' && providerConfirms ? 'stop_confirmed_by_provider' : optOut;
}

/** Applies each message in the order in which it came, and returns those that owe an answer. */
async function applyStates(
  client: PoolClient,
  conversation: LockedConversation,
  entries: readonly Entry[],
  instant: Instant,
): Promise<{ message: NewMessage; prepared: NewElement['prepared'] }[]> {
  let current = conversation;
  let owing: { message: NewMessage; prepared: NewElement['prepared'] }[] = [];
  for (const { item, message } of entries) {
    if (message.author === 'native') {
      current = await takeOverByNative(client, current, message, instant.now);
      await settleBefore(client, current, message, instant.now);
      owing = [];
    } else if (isMessage(item.prepared)) {
      current = await applyLeadMessage(client, current, message, instant.now);
      if (message.owes && message.joinsItem === null)
        owing.push({ message, prepared: item.prepared });
    }
  }
  if (owing.length === 0 || current.owner !== 'person') return owing;
  await joinOwner(client, current, entries, instant.now);
  return [];
}

const settleToPerson = statement(
  'settle-to-person',
  `update messages set settlement = 'person', settlement_ref = $3,
     settlement_reason = 'answered_in_provider_app', settled_at = $4
   where conversation_id = $1 and owes and settled_at is null and seq < $2`,
);

/** A person's answer in the same batch covers the lead's messages before it. */
async function settleBefore(
  client: PoolClient,
  conversation: LockedConversation,
  message: NewMessage,
  at: string,
): Promise<void> {
  await run(client, settleToPerson, [conversation.id, message.seq, message.id, at]);
}

/** A person owns the conversation: its one open item is made and takes the new messages (T6). */
async function joinOwner(
  client: PoolClient,
  conversation: LockedConversation,
  entries: readonly Entry[],
  at: string,
): Promise<void> {
  const newestSeq = entries.at(-1)?.message.seq ?? conversation.lastSeq;
  const itemId = await openItemForOwner(client, conversation, newestSeq, at);
  await settleDebt(client, {
    conversationId: conversation.id,
    throughSeq: newestSeq,
    // A person's answer in this batch left the debt to the messages behind it.
    token: conversation.owedSince ?? at,
    settlement: { kind: 'work-item', ref: itemId, reason: 'person_owns', at },
  });
}
