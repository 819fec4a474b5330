import type { Request } from 'express';
import type { SandboxContext } from '../context';
import { visibleUntil, type Reply } from '../provider-call';
import type { Person } from '../people';
import type { ThreadEntry } from '../thread-entry';
import { firstText } from '../values';
import { invalidParameter, unknownObject } from './graph-errors';
import { scopedId } from './page-events';
import type { PageAccount } from './page-send';

/** Graph shows details of the newest messages only (providers 3.1.9). */
const MESSAGES_MAX = 20;

interface Read {
  readonly person: Person;
  readonly fields: string;
}

/** Conversation ids name account and lead, so that any of them can be asked for later. */
function conversationId(account: PageAccount, person: Person): string {
  const prefix = account.channel === 'messenger' ? 't_' : 'aWdfZAG06';
  return `${prefix}${account.externalId}_${scopedId(account.channel, person)}`;
}

/** Graph times have seconds and an offset without a colon. */
function graphTime(iso: string): string {
  return `${iso.slice(0, 19)}+0000`;
}

function partyOf(account: PageAccount, id: string, name: string) {
  return account.channel === 'messenger' ? { name, id } : { username: name, id };
}

function messageOf(account: PageAccount, person: Person, entry: ThreadEntry) {
  const lead = partyOf(account, scopedId(account.channel, person), person.name);
  const business = partyOf(account, account.externalId, account.name);
  const [from, to] = entry.from === 'lead' ? [lead, business] : [business, lead];
  return {
    id: entry.providerMessageId,
    created_time: graphTime(entry.at),
    from,
    to: { data: [to] },
    message: entry.text,
  };
}

function entriesOf(
  context: SandboxContext,
  account: PageAccount,
  person: Person,
): readonly ThreadEntry[] {
  return context.threads
    .entries(account.channel, person.name)
    .filter((entry) => entry.account === account.externalId && entry.deleted !== true);
}

function wantedLimit(fields: string): number {
  const limit = Number(/messages\.limit\((\d+)\)/.exec(fields)?.[1] ?? MESSAGES_MAX);
  return Math.min(limit, MESSAGES_MAX);
}

function messagesOf(context: SandboxContext, account: PageAccount, read: Read) {
  const until = visibleUntil(context, account.channel);
  const visible = (entry: ThreadEntry) => entry.from === 'lead' || Date.parse(entry.at) <= until;
  const newest = entriesOf(context, account, read.person)
    .filter(visible)
    .slice(-wantedLimit(read.fields))
    .reverse();
  return { data: newest.map((entry) => messageOf(account, read.person, entry)) };
}

function conversationOf(context: SandboxContext, account: PageAccount, read: Read) {
  const newest = entriesOf(context, account, read.person).at(-1);
  const messages = /(^|,)messages/.test(read.fields)
    ? { messages: messagesOf(context, account, read) }
    : {};
  return {
    id: conversationId(account, read.person),
    updated_time: graphTime(newest?.at ?? new Date(0).toISOString()),
    ...messages,
  };
}

/** A Page reads the Instagram account that is linked to it: here the first one. */
function readAccount(
  context: SandboxContext,
  account: PageAccount,
  platform: string,
): PageAccount | null {
  if (platform === account.channel) return account;
  if (platform !== 'instagram') return null;
  const linked = context.accounts.find('instagram');
  return linked === null ? null : { ...linked, channel: 'instagram' };
}

/** `GET /{page id}/conversations?platform=…&user_id=…`; an Instagram account's id is as good. */
export function listConversations(
  context: SandboxContext,
  pathAccount: PageAccount,
  query: Request['query'],
): Reply {
  const account = readAccount(context, pathAccount, firstText(query['platform']) ?? 'messenger');
  if (account === null) {
    return invalidParameter('Param platform must be one of {MESSENGER, INSTAGRAM}');
  }
  const userId = firstText(query['user_id']);
  if (userId === null) return invalidParameter('This sandbox lists conversations by user_id only');
  const person = context.people.at(account.channel, userId);
  const known = person !== null && entriesOf(context, account, person).length > 0;
  const fields = firstText(query['fields']) ?? '';
  const data = known ? [conversationOf(context, account, { person, fields })] : [];
  return { status: 200, body: { data } };
}

/** `GET /{conversation id}?fields=messages{…}`: the newest 20 messages, the newest first. */
export function readConversation(
  context: SandboxContext,
  id: string,
  query: Request['query'],
): Reply {
  const [accountPart = '', leadId = ''] = id.replace(/^(t_|aWdfZAG06)/, '').split('_');
  const account = context.accounts.findAtMeta(accountPart);
  const channel = account?.channel;
  if (account === null || (channel !== 'messenger' && channel !== 'instagram')) {
    return unknownObject(id, 'GET');
  }
  const person = context.people.at(channel, leadId);
  if (person === null) return unknownObject(id, 'GET');
  const fields = firstText(query['fields']) ?? '';
  const body = conversationOf(context, { ...account, channel }, { person, fields });
  return { status: 200, body };
}
