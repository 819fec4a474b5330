import { understand } from '../../../ai/understand';
import { CLEANER, ELECTRICIAN, PLUMBER } from '../../fixtures/plumber-profile';
import { threadOf } from '../../fixtures/conversations';

const read = (...lines: readonly string[]) => understand(threadOf(...lines), PLUMBER);

describe('the service', () => {
  it.each([
    ['a plural', 'two toilets', 'toilet-repair'],
    ['an -ing form', 'toilet keeps flushing', 'toilet-repair'],
    ['a doubled consonant', 'the sink is clogging', 'drain-cleaning'],
    ['capitals and accents', 'DESAGÜE TAPADO', 'drain-cleaning'],
    ['the longer phrase', 'leak at the water heater', 'water-heater-repair'],
    ['a label of the catalogue', 'main line repair please', 'main-line-repair'],
    ['a Spanish plural', 'hay goteras', 'leak-repair'],
    ['full-width letters', 'ｔｏｉｌｅｔ', 'toilet-repair'],
  ])('is found by %s [P2]', (_, text, serviceId) => {
    expect(read(`> ${text}`).serviceId).toBe(serviceId);
  });

  it.each([
    ['a denied word', "it's not the toilet"],
    ['a word inside another', 'drainage easement'],
    ['nothing', 'hello'],
    ['a denied Spanish word', 'no es el inodoro'],
  ])('is not found in %s [P2]', (_, text) => {
    expect(read(`> ${text}`).serviceId).toBeNull();
  });

  it('an empty or broken catalogue finds nothing and breaks nothing [P2]', () => {
    const services = [{ id: 'odd', label: '', words: ['', '!!!', ' '] }];
    const profile = { ...PLUMBER, services };
    expect(understand(threadOf('> !!! toilet'), profile).serviceId).toBeNull();
  });

  it('a label in the words of the catalogue, not of the lead, is kept [P2]', () => {
    expect(read('> my WATER  heaters!!').jobLabel).toBe('water heater');
  });
});

describe('the place', () => {
  it.each([
    ['a ZIP code', 'zip is 60614', '60614'],
    ['a ZIP code with four more digits', '60614-1234', '60614'],
    ['a ZIP code with a comma', 'Chicago, 60614, thanks', '60614'],
    ['a town after "in"', "we're in Oak Park", 'Oak Park'],
    ['a town with its state', 'in Evanston, IL', 'Evanston, IL'],
    ['a place after "near"', 'near Wrigley Field', 'Wrigley Field'],
    ['a Spanish place', 'vivo en Cicero', 'Cicero'],
    ['a street', 'at 1420 W Oak St', '1420 W Oak St'],
    ['a street before a named place', '12 Elm Road in Berwyn', '12 Elm Road'],
    ['the ZIP code of an address', '1420 Oak St, 60614', '60614'],
  ])('is read from %s [P2]', (_, text, location) => {
    expect(read(`> ${text}`).location).toBe(location);
  });

  it.each([
    ...[
      'in July',
      'in Spanish please',
      'in the basement',
      'near the kitchen',
      'in Kitchen',
      'on Friday',
    ],
    ...[
      '$15000',
      '15000 dollars',
      '12000 btu unit',
      'order 55555',
      '12345678',
      '3125550142',
      '00000',
    ],
    ...['12345.50', 'unit 10101', 'model 40404'],
  ])('is not read from "%s" [P2]', (text) => {
    expect(read(`> ${text}`).location).toBeNull();
  });

  it.each([
    ['oak park', 'oak park'],
    ['Near the corner of Main and 5th', 'Near the corner of Main and 5th'],
    ['ok thanks, oak park', 'oak park'],
    ['not sure', null],
    ['why?', null],
    ['one moment', null],
    ['the wood one in the back yard', null],
  ])('after our question, the answer "%s" gives %s [P2]', (text, location) => {
    const thread = ['> toilet', '< What is the ZIP code where you need us?', `> ${text}`];
    expect(read(...thread).location).toBe(location);
  });

  it('an answer is remembered in later turns, and a ZIP code replaces it [P2]', () => {
    const lines = ['> toilet', '< Which ZIP code?', '> oak park', '< How soon?', '> today'];
    expect(read(...lines).location).toBe('oak park');
    expect(read(...lines, '> its 60302').location).toBe('60302');
    expect(read(...lines, '> its 60302', '> in Oak Park').location).toBe('60302');
  });
});

describe('the urgency', () => {
  it.each([
    ...[
      'burst pipe',
      'we are flooding',
      'sparks from the outlet',
      'I smell gas',
      'no heat',
      'sewage',
    ],
    ...[
      'EMERGENCY',
      'urgent',
      'water everywhere',
      'toilet overflowing',
      'se reventó un tubo',
      'urgente',
    ],
    ...['me urge', 'huele a gas', "can't wait until next week, it's flooding", 'no water'],
  ])('"%s" is an emergency [P2]', (text) => {
    expect(read(`> ${text}`).urgency).toBe('emergency');
  });

  it.each([
    ...[
      'today?',
      'asap',
      'now please',
      'tomorrow morning',
      'Thursday works',
      'a leak',
      'hoy',
      'mañana',
    ],
    ...['this weekend', 'no hot water', 'lo antes posible', 'hay una fuga'],
  ])('"%s" is soon [P2]', (text) => {
    expect(read(`> ${text}`).urgency).toBe('soon');
  });

  it.each([
    ...[
      'no rush',
      'next week is fine',
      'whenever',
      'not an emergency',
      'small leak, no rush',
      'sin prisa',
    ],
    ...['burst last year, fixed since, not urgent', 'anytime', 'la próxima semana', 'it can wait'],
  ])('"%s" is flexible [P2]', (text) => {
    expect(read(`> ${text}`).urgency).toBe('flexible');
  });

  it.each([
    'flood lights',
    'smoke detector',
    'for now it works',
    'no water pressure',
    'hi',
    'por la mañana',
  ])('"%s" says nothing about it [P2]', (text) => {
    expect(read(`> ${text}`).urgency).toBeNull();
  });
});

describe('wishes and moods', () => {
  it.each([
    ...[
      'talk to a human',
      'call me',
      'real person please',
      'representative',
      'give me a call back',
    ],
    ...[
      'are you a bot?',
      'let me speak with the manager',
      'can someone call me',
      'me pueden llamar',
    ],
    ...['Call me Tuesday'],
  ])('"%s" wants a person [P3]', (text) => {
    expect(read(`> ${text}`).wantsPerson).toBe(true);
  });

  it.each([
    ...["don't call me", 'no me llamen', 'you can call me Dana', 'Call me Dana', 'I am the owner'],
    ...['please call before you come', 'property manager here', 'my phone died'],
  ])('"%s" does not ask for a person [P3]', (text) => {
    expect(read(`> ${text}`).wantsPerson).toBe(false);
  });

  it.each([
    ...[
      'scam',
      'you never showed',
      'I want a refund',
      'my lawyer',
      'terrible',
      'this is ridiculous',
    ],
    ...['nobody called me back', 'estafa', 'nunca vinieron', 'fed up', 'worst plumber ever'],
  ])('"%s" is a complaint [C7]', (text) => {
    expect(read(`> ${text}`).complains).toBe(true);
  });

  it.each([
    ...['terrible smell', 'it smells awful', 'horrible noise in the pipes', 'the worst leak ever'],
    ...['my name is Sue', 'I am not in a hurry', 'the water ruined my floor'],
  ])('"%s" is no complaint [C7]', (text) => {
    expect(read(`> ${text}`).complains).toBe(false);
  });

  it.each([
    'how much',
    "what's your rate",
    '$?',
    'any discounts',
    'cuánto cuesta',
    'presupuesto',
    '€50?',
  ])('"%s" asks for the price [Q2]', (text) => {
    expect(read(`> ${text}`).wantsPrice).toBe(true);
  });

  it.each(['how much longer', 'low flow rate', 'hi', 'how many bathrooms'])(
    '"%s" does not ask for the price [Q2]',
    (text) => {
      expect(read(`> ${text}`).wantsPrice).toBe(false);
    },
  );

  it.each([
    'can you come out',
    'book me',
    'next appointment?',
    'quiero una cita',
    'when can you start',
  ])('"%s" wants to book [P2]', (text) => {
    expect(read(`> ${text}`).wantsBooking).toBe(true);
  });

  it('what was answered no longer asks for a person, complains or asks for the price [P3]', () => {
    const lines = [
      '> scam! call me, how much?',
      '< Dana here, sorry about that. Better now?',
      '> yes',
    ];
    expect(read(...lines)).toMatchObject({
      ...{ wantsPerson: false, complains: false, wantsPrice: false },
    });
  });
});

describe('openers and languages', () => {
  it.each([
    'hi',
    'Hello?',
    'are you there',
    'are you open',
    'hey guys',
    'hola',
    '👋',
    'buenas',
    '?',
  ])('"%s" only opens a conversation [P4b]', (text) => {
    expect(read(`> ${text}`).bareOpener).toBe(true);
  });

  it.each(['hi, my toilet is broken', 'today?', 'how much', '60614', 'are you open on Sunday'])(
    '"%s" is more than an opener [P4b]',
    (text) => {
      expect(read(`> ${text}`).bareOpener).toBe(false);
    },
  );

  it('media without text is no opener, and neither is nothing at all [P4b]', () => {
    expect(read('> [media]').bareOpener).toBe(false);
    expect(read().bareOpener).toBe(false);
  });

  it.each([
    ['hola', 'es'],
    ['¿están abiertos?', 'es'],
    ['necesito un plomero', 'es'],
    ['hi there', 'en'],
    ['I live on El Camino and need a plumber', 'en'],
    ['60614', 'en'],
    ['👍', 'en'],
  ])('"%s" is answered in %s [P2]', (text, language) => {
    expect(read(`> ${text}`).language).toBe(language);
  });

  it('a ZIP code keeps the language, a sentence in another one changes it [P2]', () => {
    expect(read('> hola', '< ¿En qué le podemos ayudar?', '> 60614').language).toBe('es');
    expect(read('> hola', '> sorry, I need a plumber').language).toBe('en');
  });

  it('robots say nothing about what the lead wants [P2]', () => {
    const robot = '> This is an automated message: call me about your toilet';
    expect(read(robot)).toMatchObject({ wantsPerson: false, serviceId: null });
  });
});

describe('other trades', () => {
  it.each([
    [CLEANER, 'spring cleaning for my house', 'deep-cleaning'],
    [CLEANER, 'we are moving out', 'move-out-cleaning'],
    [ELECTRICIAN, 'breakers keep tripping', 'panel-upgrade'],
    [ELECTRICIAN, 'install two chandeliers', 'lighting'],
  ])('$name finds its own services [P2]', (profile, text, serviceId) => {
    expect(understand(threadOf(`> ${text}`), profile).serviceId).toBe(serviceId);
  });
});
