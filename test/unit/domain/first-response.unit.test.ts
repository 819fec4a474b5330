import { guardDraft, mentionsAmountOrPromise } from '../../../domain/amounts';
import { classifyFirstResponse } from '../../../domain/first-response';
import type { Understanding } from '../../../domain/understanding';
import { PLUMBER } from '../../fixtures/plumber-profile';
import { unitsOf } from '../../support/cost';

const NOTHING_KNOWN: Understanding = {
  serviceId: null,
  jobLabel: null,
  location: null,
  urgency: null,
  wantsPerson: false,
  complains: false,
  wantsPrice: false,
  wantsBooking: false,
  bareOpener: true,
  language: 'en',
};
const DRAIN: Understanding = { ...NOTHING_KNOWN, serviceId: 'drain-cleaning', jobLabel: 'clogged' };
const FUGA: Understanding = { ...NOTHING_KNOWN, serviceId: 'leak-repair', jobLabel: 'fuga' };

describe('a first response', () => {
  it.each([
    [
      'names the service and asks',
      DRAIN,
      'Thanks for asking about drain cleaning. Which ZIP code?',
    ],
    ['uses a word of the catalogue', DRAIN, 'Is the clogged sink in the kitchen?'],
    ['uses the Spanish word', FUGA, 'Anotamos su solicitud: fuga. ¿Cuál es el código postal?'],
    ['asks which job it is', NOTHING_KNOWN, 'Thanks for writing. What do you need help with?'],
    ['asks it in Spanish', NOTHING_KNOWN, 'Gracias. ¿En qué le podemos ayudar?'],
  ])('counts as meaningful where it %s [L5]', (_, understanding, text) => {
    expect(classifyFirstResponse(text, PLUMBER, understanding)).toBe('meaningful');
  });

  it.each([
    ['asks nothing', DRAIN, 'Thanks, we received your drain cleaning request.'],
    ['names no service', DRAIN, 'Thanks. What is your ZIP code?'],
    ['names another service', DRAIN, 'Thanks for asking about toilet repair. Which ZIP code?'],
    ['holds the word only inside another', DRAIN, 'Is the drainage easement yours?'],
    ['asks something else first', NOTHING_KNOWN, 'Thanks. How soon do you need this done?'],
    ['names a price', DRAIN, 'Drain cleaning is $99. Which ZIP code?'],
    ['promises a time', DRAIN, 'We can do your drain cleaning today at 5 pm. Which ZIP code?'],
    ['is empty', NOTHING_KNOWN, ''],
  ])('is a mere acknowledgement where it %s [L5]', (_, understanding, text) => {
    expect(classifyFirstResponse(text, PLUMBER, understanding)).toBe('acknowledgement');
  });

  it('a service that left the catalogue is still named by what the lead called it [L5]', () => {
    const gone = { ...DRAIN, serviceId: 'gone' };
    expect(classifyFirstResponse('Is it clogged?', PLUMBER, gone)).toBe('meaningful');
  });
});

describe('the guard over drafts', () => {
  it.each([
    ...[
      'It is $120.',
      'About 120',
      '119.99 total',
      '1,200',
      'EUR 50',
      '50 bucks',
      '120 USD',
      '€80',
    ],
    ...[
      '10% off',
      'ten percent',
      'The visit is free.',
      'two hundred dollars',
      'no charge',
      'cien pesos',
    ],
    ...[
      'Es gratis',
      'sin costo',
      '150 dólares',
      '１２０',
      '٣٠',
      '120-150',
      'per hour',
      'a flat rate',
      '$',
    ],
  ])('"%s" names an amount [Q3, INV-18]', (text) => {
    expect(guardDraft(text)).toBe('amount');
    expect(mentionsAmountOrPromise(text)).toBe(true);
  });

  it.each([
    ...["We'll be there soon.", 'We will fix it.', 'I guarantee it.', 'See you at 5 pm', 'by 5'],
    ...['at 17:30', 'We can come over', 'A technician will call', 'on our way', 'within the hour'],
    ...[
      'Tuesday works',
      'We are available',
      'You are booked',
      'today',
      'Hoy mismo',
      'vamos en camino',
    ],
    ...[
      'llegamos mañana',
      'garantizado',
      'a las 5',
      'le podemos arreglar; podemos arreglar todo',
      '24/7',
    ],
  ])('"%s" promises something [Q5, L5]', (text) => {
    expect(guardDraft(text)).toBe('promise');
    expect(mentionsAmountOrPromise(text)).toBe(true);
  });

  it.each([
    ...[
      'https://example.com',
      'www.example',
      'example.com/pay',
      'me@example.org',
      'see exa\u200bmple.io',
    ],
    ...['example dot com', 'tel:123', 'ｅｘａｍｐｌｅ．ｃｏｍ', 'javascript://x', 'pay.me/x'],
  ])('"%s" holds a link [SEC15]', (text) => {
    expect(guardDraft(text)).toBe('link');
  });

  it.each([
    'Thanks, we noted ZIP 60614 for your request. How soon do you need this done?',
    'If you smell gas, please leave the building and call 911 from outside.',
    'Thanks for contacting A1 Plumbing Co. What do you need help with?',
    '¿Le conviene más por la mañana o por la tarde para una visita?',
    'The price depends on the job, and a person confirms it with you before any work starts.',
    '',
  ])('"%s" may leave [Q3]', (text) => {
    expect(guardDraft(text)).toBe('ok');
    expect(mentionsAmountOrPromise(text)).toBe(false);
  });

  it.each([
    ['digits', '1'.repeat(100_000)],
    ['dots', 'a.'.repeat(50_000)],
    ['numbers with spaces', '1 '.repeat(50_000)],
    ['promises', 'we we will '.repeat(9_000)],
  ])('100 kB of %s cost at most 200 passes over such a text [SEC10]', (_, text) => {
    expect(unitsOf(() => void guardDraft(text))).toBeLessThanOrEqual(200);
  });
});
