import { DEMO_POLICY } from '../../../dev/demo';
import { DEFAULT_RULES, readPolicyRules } from '../../../domain/policy-rules';

const closed = {
  monday: [],
  tuesday: [],
  wednesday: [],
  thursday: [],
  friday: [],
  saturday: [],
  sunday: [],
};
const monday = (...ranges: { from: string; to: string }[]) => ({
  businessHours: { ...closed, monday: ranges },
});

describe('the rules of a policy', () => {
  it.each([
    ['the default', {}],
    ['the demo', DEMO_POLICY],
    ['a day in two parts', monday({ from: '08:00', to: '12:00' }, { from: '13:00', to: '17:00' })],
    ['a range past midnight', monday({ from: '17:00', to: '02:00' })],
    ['a whole day', monday({ from: '00:00', to: '24:00' })],
    ['no follow-ups', { followUpDays: [] }],
    [
      'an approved template',
      {
        fallback: 'template',
        templates: { whatsapp: { name: 'check_in', language: 'en_US', text: 'Hi' } },
      },
    ],
  ])('are valid as %s [C2]', (_name, change) => {
    expect(readPolicyRules({ ...DEFAULT_RULES, ...change })).toMatchObject({ kind: 'valid' });
  });

  it.each([
    [
      'a time that no clock shows',
      { quietHours: { from: '24:00', to: '08:00' } },
      'quietHours.from',
    ],
    ['a range of no length', { quietHours: { from: '08:00', to: '08:00' } }, 'another time'],
    [
      'ranges that overlap',
      monday({ from: '08:00', to: '12:00' }, { from: '11:59', to: '13:00' }),
      'businessHours.monday: The ranges of a day must not overlap.',
    ],
    ['hours that never open', { businessHours: closed }, 'leave no time of the week'],
    [
      'business hours inside quiet hours',
      monday({ from: '22:00', to: '02:00' }),
      'leave no time of the week',
    ],
    ['days that fall', { followUpDays: [3, 1] }, 'must rise'],
    [
      'a date that does not exist',
      { holidays: [{ date: '2027-02-29', name: 'Leap', ranges: [] }] },
      'YYYY-MM-DD',
    ],
    [
      'a holiday twice',
      {
        holidays: [
          { date: '2027-01-01', name: 'A', ranges: [] },
          { date: '2027-01-01', name: 'B', ranges: [] },
        ],
      },
      'only once',
    ],
    ['a fallback without its template', { fallback: 'template' }, 'no template is named'],
    [
      'a template where there are none',
      { templates: { sms: { name: 'x', language: 'en', text: 'Hi' } } },
      'Only WhatsApp',
    ],
    ['a plan that begins again', { restartAfterSilence: true }, 'restartAfterSilence'],
    ['a rule that nobody knows', { weekendRates: true }, 'weekendRates'],
  ])('refuse %s and say where [C2]', (_name, change, words) => {
    const read = readPolicyRules({ ...DEFAULT_RULES, ...change });
    expect(read.kind).toBe('invalid');
    expect(read.kind === 'invalid' ? read.problems.join(' ') : '').toContain(words);
  });
});
