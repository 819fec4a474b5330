import type { Agenda, Step } from '../domain/agenda';

/** A step in an operator's words, for timers and activities in the Web UI (O4). */
export function describeStep(step: Step): string {
  switch (step.kind) {
    case 'take-turn':
      return 'until the turn may start';
    case 'deliver':
      return `until ${step.sendId} may leave`;
    case 'resolve':
      return `until ${step.sendId} can be judged`;
    case 'expire':
      return `until ${step.sendId} expires`;
    case 'escalate':
      return `until ${step.workItemId} is escalated`;
    case 'follow-up':
      return `until follow-up ${step.step} is due`;
  }
}

/** The live status box of a conversation's run: Markdown, ids and states only. */
export function describeAgenda(agenda: Agenda): string {
  const debt = agenda.owed ? '**A reply is owed.**' : 'Nothing is owed.';
  const head = `State **${agenda.state}**, owned by **${agenda.owner}**. ${debt}`;
  if (agenda.items.length === 0) return `${head}\n\nNothing is due.`;
  const lines = agenda.items.map(
    ({ step, dueInMs }) => `- ${describeStep(step)}: ${inWords(dueInMs)}`,
  );
  return `${head}\n\n${lines.join('\n')}`;
}

function inWords(milliseconds: number): string {
  if (milliseconds <= 0) return 'now';
  const seconds = Math.round(milliseconds / 1_000);
  if (seconds < 120) return `in ${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `in ${minutes} min` : `in ${Math.round(minutes / 60)} h`;
}
