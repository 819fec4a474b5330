import {
  entry,
  type MessageFact,
  type SendFact,
  type TimelineEntry,
  type TimelineFacts,
  type TimelineKind,
  type TimelineMessage,
  type TransitionFact,
} from './timeline-facts';
import { heldByPeople, noteEntry, peopleEntries } from './timeline-people';
import { sendEntries } from './timeline-sends';
import {
  CHANNEL_NAMES,
  causeClause,
  durationWords,
  mediaNames,
  noAnswerClause,
  stateName,
} from './timeline-words';

/**
 * Tells a conversation's facts as a story in plain words, oldest first (S5, C7): what came, what
 * was decided, sent and not sent and why, and who holds it. Pure; the same facts give the same
 * entries with the same ids.
 */
export function timelineOf(facts: TimelineFacts): TimelineEntry[] {
  const sends = new Map(facts.sends.map((send) => [send.id, send]));
  const entries = [
    ...facts.messages.map((message) => bubble(message, sends)),
    ...facts.messages.flatMap((message) => received(message, CHANNEL_NAMES[facts.channel])),
    ...settlements(facts.messages),
    ...heldByPeople(facts),
    ...facts.transitions.map(moved),
    ...sendEntries(facts),
    ...peopleEntries(facts),
    ...facts.notes.map(noteEntry),
  ];
  return entries.sort((a, b) => compare(a.at, b.at) || rank(a) - rank(b) || compare(a.id, b.id));
}

/** Facts of one transaction share an instant; then the cause stands before its consequence. */
const RANKS: readonly TimelineKind[] = [
  'received',
  'work-item',
  'state',
  'takeover',
  'note',
  'not-sent',
  'decision',
  'attempt',
  'message',
  'outcome',
  'latency',
  'settled',
  'follow-up',
];

function rank({ kind, message }: TimelineEntry): number {
  // What the lead or a person in the provider's app wrote is the cause of all that follows.
  const starts = message !== null && (message.direction === 'in' || message.author === 'native');
  return starts ? -1 : RANKS.indexOf(kind);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function bubble(message: MessageFact, sends: ReadonlyMap<string, SendFact>): TimelineEntry {
  return {
    ...entry({
      id: message.id,
      kind: 'message',
      at:
        message.direction === 'in' ? message.receivedAt : (message.sourceAt ?? message.receivedAt),
      text: bubbleText(message),
      tone: 'info',
    }),
    message: {
      direction: message.direction,
      author: message.author,
      seq: message.seq,
      media: message.media,
      delivery: deliveryOf(message, sends),
      edited: message.editedAt !== null,
      deleted: message.deletedAt !== null,
    },
  };
}

function bubbleText(message: MessageFact): string {
  if (message.deletedAt !== null) return 'The lead deleted this message.';
  if (message.text !== null) return message.text;
  if (message.media.length > 0) return mediaNames(message.media);
  return message.unsupported
    ? 'Something that this channel cannot show.'
    : 'A message without text.';
}

const DELIVERIES = new Map<string, TimelineMessage['delivery']>([
  ['accepted', 'sent'],
  ['delivered', 'delivered'],
  ['failed', 'failed'],
  ['delivery_unknown', 'unknown'],
]);

function deliveryOf(
  message: MessageFact,
  sends: ReadonlyMap<string, SendFact>,
): TimelineMessage['delivery'] {
  const state = message.sendId === null ? undefined : sends.get(message.sendId)?.state;
  return DELIVERIES.get(state ?? '') ?? null;
}

/** A message that took longer than this from its writing to us is worth a remark. */
const LATE_ARRIVAL_MS = 60_000;

const OPT_OUT_WORDS = new Map([
  ['stop', 'The lead asks for no more messages.'],
  [
    'stop_confirmed_by_provider',
    'The lead asks for no more messages; the provider confirms that itself.',
  ],
  ['start', 'The lead wants to hear from us again.'],
  ['help', 'The lead asks for help.'],
]);

function received(message: MessageFact, channel: string): TimelineEntry[] {
  if (message.author !== 'lead') return [];
  const lateMs =
    message.sourceAt === null ? 0 : Date.parse(message.receivedAt) - Date.parse(message.sourceAt);
  const late = lateMs >= LATE_ARRIVAL_MS;
  const optOut = OPT_OUT_WORDS.get(message.optOut ?? '');
  const text = [
    `Received over ${channel}${late ? ` ${durationWords(lateMs)} after it was written` : ''}.`,
    ...(optOut === undefined ? [] : [optOut]),
    ...(message.owes && optOut === undefined ? ['It asks for an answer.'] : []),
  ].join(' ');
  const tone = late ? 'warning' : optOut === undefined ? 'quiet' : 'info';
  return [
    entry({ id: `${message.id}:received`, kind: 'received', at: message.receivedAt, text, tone }),
  ];
}

/** How owed messages ended, one line for those that one fact settled; a reply speaks for itself. */
function settlements(messages: readonly MessageFact[]): TimelineEntry[] {
  const groups = new Map<string, MessageFact>();
  for (const message of messages) {
    const { settlement, settlementRef, settlementReason, settledAt } = message;
    if (settlement === null || settlement === 'reply') continue;
    groups.set(JSON.stringify([settlement, settlementRef, settlementReason, settledAt]), message);
  }
  return [...groups.values()].flatMap((message) =>
    message.settledAt === null
      ? []
      : [
          entry({
            id: `${message.id}:settled`,
            kind: 'settled',
            at: message.settledAt,
            text: settledText(message),
            tone: message.settlement === 'no-answer' ? 'info' : 'quiet',
          }),
        ],
  );
}

function settledText(message: MessageFact): string {
  switch (message.settlement) {
    case 'no-answer':
      return `No answer is needed: ${noAnswerClause(message.settlementReason)}.`;
    case 'person':
      return 'A person answered; nothing is owed any more.';
    default:
      return 'The answer is now with a person.';
  }
}

function moved(transition: TransitionFact): TimelineEntry {
  const why = causeClause(transition.cause);
  // A reply while paused raises what resuming goes back to; the state itself stays.
  const moves = transition.changed && transition.fromState !== transition.toState;
  const text = moves
    ? `${why}. The state is now “${stateName(transition.toState)}”.`
    : `${why}. The state stays “${stateName(transition.toState)}”.`;
  return entry({
    id: `state:${transition.ordinal}`,
    kind: 'state',
    at: transition.at,
    text,
    tone: moves ? 'info' : 'quiet',
  });
}
