/** The leads: who writes what on which channel, drawn from the seed. */
import { setTimeout as sleep } from 'node:timers/promises';

export const CHANNELS = ['messenger', 'instagram', 'whatsapp', 'sms'];

const REQUESTS = [
  'My water heater is leaking, can you come today? 60614',
  'The kitchen drain is clogged, 60622. My name is Dana.',
  'Our toilet keeps running, we are at 60647',
  'There is a leak under the sink, 60618, please come this week',
  'The main line is backing up into the basement, 60625',
  'Tengo una fuga en la cocina, 60608, ¿pueden venir hoy?',
];
const REPLIES = [
  'It is a 50 gallon tank and it started this morning.',
  'Tomorrow morning would be best for us.',
  'It is the second floor, the door is on the left.',
  'Yes, please go ahead.',
];
const BURST = ['Hi', 'are you open', 'My faucet drips all night, 60640'];
const STOPS = ['STOP', 'please stop texting me', 'unsubscribe'];

/** What a lead does next, and how often. */
const ACTS = [
  ['new', 50],
  ['burst', 8],
  ['twice', 8],
  ['reply', 24],
  ['stop', 3],
  ['reaction', 3],
  ['edit', 2],
  ['person', 2],
];

/** What leads do, each as one thing that happens. */
function actsOf({ phone, seeded, people, provoked, newPerson, someone, write }) {
  return {
    new: () => write(newPerson(), seeded.pick(REQUESTS)),
    burst: async () => {
      const person = newPerson();
      for (const text of BURST) {
        await write(person, text);
        await sleep(150 + seeded.random() * 500);
      }
    },
    twice: () => write(newPerson(), seeded.pick(REQUESTS), { options: { duplicate: 2 } }),
    reply: () => write(someone(), seeded.pick(REPLIES)),
    stop: async () => {
      const person = someone();
      person.optedOut = true;
      await write(person, seeded.pick(STOPS));
    },
    reaction: async () => {
      const person = seeded.pick(people.filter(({ channel }) => channel !== 'sms'));
      await phone.write(person.channel, { lead: person.lead, text: '👍', kind: 'reaction' });
    },
    edit: async () => {
      const person = seeded.pick(people.filter(({ channel }) => channel === 'messenger'));
      await phone.write(person.channel, { lead: person.lead, text: 'I meant 60614', kind: 'edit' });
    },
    person: async () => {
      const person = newPerson();
      provoked.set(`${person.channel}/${person.lead}`, 'asked for a person');
      await write(person, 'I want to talk to a real person, please');
    },
  };
}

/**
 * Leads of one run. `isSilent` and `provoked` keep what the verdict needs: which texts may owe
 * nothing, and whose answer was kept away on purpose.
 */
export function makeLeads({ phone, seeded }) {
  const people = [];
  const silent = new Set();
  const provoked = new Map();
  const writing = new Set();
  let count = 0;

  async function write(person, text, more = {}) {
    const { channel, lead } = person;
    const sent = phone.write(channel, { lead, text, ...more }).then((answer) => {
      if (person.optedOut) silent.add(answer.providerMessageId);
      return answer;
    });
    writing.add(sent);
    try {
      return await sent;
    } finally {
      writing.delete(sent);
    }
  }

  function newPerson(channel = seeded.pick(CHANNELS)) {
    count += 1;
    const person = { channel, lead: `Chaos ${channel} ${count}`, optedOut: false };
    people.push(person);
    return person;
  }

  const someone = () => {
    const free = people.filter(({ optedOut, lead, channel }) => {
      return !optedOut && !provoked.has(`${channel}/${lead}`);
    });
    return free.length === 0 ? newPerson() : seeded.pick(free.slice(-200));
  };

  const acts = actsOf({ phone, seeded, people, provoked, newPerson, someone, write });

  return {
    people,
    provoked,
    /** Whether a message may owe nothing. */
    isSilent: (providerMessageId) => silent.has(providerMessageId),
    newPerson,
    write,
    /** A lead who was never here before writes a whole request. */
    request: (channel) => {
      const person = newPerson(channel);
      return write(person, seeded.pick(REQUESTS)).then((answer) => ({ ...person, ...answer }));
    },
    /** Does the next thing that the seed says. */
    act: async () => {
      const act = people.length < 8 ? 'new' : seeded.weighted(ACTS);
      // An act that a provider refuses (nothing to react to) is no act.
      await acts[act]().catch((error) => {
        if (!/answered 4\d\d|nothing to pick/.test(error.message)) throw error;
      });
    },
    idle: () => Promise.allSettled([...writing]),
  };
}

/** Lets leads write at the given rate until `stop` is called. */
export function startWriting({ leads, seeded, ratePerSecond, onError }) {
  let stopped = false;
  const running = (async () => {
    while (!stopped) {
      await sleep((-Math.log(1 - seeded.random()) / ratePerSecond) * 1000);
      if (!stopped) leads.act().catch(onError);
    }
  })();
  return {
    stop: async () => {
      stopped = true;
      await running;
      await leads.idle();
    },
  };
}
