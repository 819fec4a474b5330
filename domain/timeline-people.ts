import {
  entry,
  type NoteFact,
  type PlanFact,
  type TakeoverFact,
  type TimelineEntry,
  type TimelineFacts,
  type WorkItemFact,
} from './timeline-facts';
import {
  actorName,
  resolutionClause,
  roleName,
  stopClause,
  takeoverReason,
} from './timeline-words';

/** What waits for a person, who took over, and which follow-ups are planned. */
export function peopleEntries(facts: TimelineFacts): TimelineEntry[] {
  return [
    ...facts.workItems.flatMap(itemEntries),
    ...facts.takeovers.map(takeoverEntry),
    ...facts.plans.flatMap(planEntries),
  ];
}

/** How an item ended that had held an owed answer which is owed again now. */
const HELD_BEFORE = ['given_back', 'did_not_arrive'];

/**
 * That an answer was with a person stays told after it was given back, although its messages owe
 * again and no longer name the item.
 */
export function heldByPeople(facts: TimelineFacts): TimelineEntry[] {
  const holds = new Set(facts.messages.map(({ settlementRef }) => settlementRef));
  return facts.workItems
    .filter(({ id, resolution }) => HELD_BEFORE.includes(resolution ?? '') && !holds.has(id))
    .map(({ id, openedAt: at }) =>
      entry({
        id: `${id}:held`,
        kind: 'settled',
        at,
        text: 'The answer is now with a person.',
        tone: 'quiet',
      }),
    );
}

/** What a person wrote for colleagues. */
export function noteEntry(note: NoteFact): TimelineEntry {
  const text = `${roleName(note.role)} noted: ${note.text}`;
  return entry({ id: note.id, kind: 'note', at: note.at, text, tone: 'info' });
}

/** Kinds whose message may not have reached the lead: nobody else will notice. */
const LOST = ['delivery-unknown', 'delivery-failed'];

function itemEntries(item: WorkItemFact): TimelineEntry[] {
  const opened = entry({
    id: `${item.id}:opened`,
    kind: 'work-item',
    at: item.openedAt,
    text: `Needs a person: ${item.explanation}`,
    tone: LOST.includes(item.kind) ? 'bad' : 'warning',
  });
  if (item.resolvedAt === null) return [opened];
  const how = resolutionClause(item.resolution);
  const resolved = entry({
    id: `${item.id}:resolved`,
    kind: 'work-item',
    at: item.resolvedAt,
    text: `${actorName(item.resolvedBy)} settled this${how === null ? '' : `: ${how}`}.`,
    tone: 'good',
  });
  return [opened, resolved];
}

function takeoverEntry(event: TakeoverFact): TimelineEntry {
  return entry({
    id: event.eventId,
    kind: 'takeover',
    at: event.occurredAt,
    text: takeoverText(event),
    tone: event.type === 'session.started' ? 'quiet' : 'info',
  });
}

function takeoverText(event: TakeoverFact): string {
  const actor = actorName(event.actorRef);
  switch (event.type) {
    case 'session.started':
      return 'From here on the takeover log records who holds the conversation.';
    case 'takeover.requested': {
      const why = takeoverReason(event.reason);
      return `${actor} asked for a person${why === null ? '' : `: ${why}`}.`;
    }
    case 'takeover.claimed':
      return `${actor} took over.`;
    case 'takeover.released':
      return `${actor} gave the conversation back to automation.`;
    default:
      return `${actor} changed who holds the conversation (${event.type}).`;
  }
}

function planEntries(plan: PlanFact): TimelineEntry[] {
  const days = plan.steps.map(({ day }) => day).join(', ');
  const planned = entry({
    id: `${plan.id}:planned`,
    kind: 'follow-up',
    at: plan.anchorAt,
    text: `Follow-ups are planned for day ${days}, until the lead replies.`,
    tone: 'quiet',
  });
  if (plan.stoppedAt === null) return [planned, ...upcomingSteps(plan)];
  const open = plan.steps.some((step) => step.writtenAt === null);
  const stopped = entry({
    id: `${plan.id}:stopped`,
    kind: 'follow-up',
    at: plan.stoppedAt,
    text: open
      ? `No more follow-ups: ${stopClause(plan.stopReason)}.`
      : `The follow-ups ended: ${stopClause(plan.stopReason)}.`,
    tone: 'info',
  });
  return [planned, stopped];
}

function upcomingSteps(plan: PlanFact): TimelineEntry[] {
  return plan.steps
    .filter((step) => step.writtenAt === null)
    .map((step) =>
      entry({
        id: `${plan.id}:step:${step.step}`,
        kind: 'follow-up',
        at: step.dueAt,
        text: `Follow-up of day ${step.day}, unless the lead replies before.`,
        tone: 'info',
        upcoming: true,
      }),
    );
}
