import { staffDecisionText } from '../../../domain/timeline-staff';
import { at, tell, workItem } from './timeline-facts';

describe('what people do, told in plain words', () => {
  it.each([
    ['awaits-approval', 'The drafted answer waits until a person approves it.'],
    ['staff-approved', 'A person approved the answer; it may leave at once.'],
    ['staff-reply', 'A person wrote to the lead; it may leave at once.'],
    ['staff-send-now', 'A person decided that the answer does not wait any longer.'],
    ['staff-postpone', 'A person postponed the answer; it may leave at once.'],
    ['follow-up-day-1', null],
    [null, null],
  ])('the rule %s [C2]', (rule, text) => {
    expect(staffDecisionText(rule, 'answer', 'at once')).toBe(text);
  });

  it('a note names the role, never a person [H1]', () => {
    const notes = [{ id: 'nte_1', role: 'manager', text: 'Prefers mornings.', at: at(1) }];
    expect(tell({ notes })).toEqual([
      expect.objectContaining({ kind: 'note', text: 'A manager noted: Prefers mornings.' }),
    ]);
  });

  it.each([
    ['given_back', 1],
    ['did_not_arrive', 1],
    ['answered_by_staff', 0],
  ])(
    'an item that ended as %s tells %i times that the answer was with a person [T6]',
    (resolution, times) => {
      const item = { ...workItem, resolvedAt: at(9), resolvedBy: 'support-agent', resolution };
      const told = tell({ workItems: [item] }).filter(
        ({ text }) => text === 'The answer is now with a person.',
      );
      expect(told).toHaveLength(times);
    },
  );
});
