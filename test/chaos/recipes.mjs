/** How each failpoint is brought about: what leads and providers do, and what time passes. */
import { waitFor } from '../../dev/machine.mjs';
import { CHANNELS } from './leads.mjs';
import { STAFF_TOKEN } from './environment.mjs';

const SEEN_MS = 8_000;
const HOUR_S = 3_600;
/** Beyond the limit after which an attempt may be judged (domain/limits.ts). */
const JUDGED_S = 21;
/** Beyond the three minutes after which the sweeper takes a debt (domain/sweep.ts). */
const OVERDUE_S = 200;

/** The conversation of a message once it is stored. */
async function conversationOf({ facts }, { providerMessageId }) {
  return waitFor(() => facts.conversationOf(providerMessageId), { timeoutMs: SEEN_MS });
}

async function request({ leads }) {
  await leads.request();
}

async function refused({ leads, phone, note, seeded }) {
  const channel = seeded.pick(CHANNELS);
  note({ atMs: Date.now(), what: 'the provider fault rate-limit', channel });
  await phone.fault({ channel, fault: 'rate-limit', ms: 1_000, count: 1 });
  await leads.request(channel);
}

async function answerLost({ leads, phone, note, seeded }) {
  const channel = seeded.pick(CHANNELS);
  note({ atMs: Date.now(), what: 'the provider fault timeout-after-accept', channel });
  await phone.fault({ channel, fault: 'timeout-after-accept', ms: 200, count: 1 });
  await leads.request(channel);
}

/** An attempt whose answer, echo and statuses are all lost; then its limit passes. */
async function unknownPastLimit(context, channel, fault) {
  const { leads, phone, facts, note } = context;
  note({ atMs: Date.now(), what: `the provider fault ${fault}`, channel });
  await phone.fault({ channel, fault, ms: 200, count: 1 });
  for (const webhook of ['echo', 'status']) {
    await phone.fault({ channel, fault: 'webhook-lost', webhook, count: 3 });
  }
  const written = await leads.request(channel);
  const id = await conversationOf(context, written);
  if (id === null) return;
  const isUnknown = async () => {
    const send = await facts.openSend(id);
    return send?.state === 'sending' && send.unknown;
  };
  if (await waitFor(isUnknown, { timeoutMs: SEEN_MS, everyMs: 200 })) await facts.age(id, JUDGED_S);
}

/** The provider asks to wait for more than a minute, and an hour passes. */
async function expired(context) {
  const { leads, phone, facts, seeded, note } = context;
  const channel = seeded.pick(['whatsapp', 'sms']);
  note({ atMs: Date.now(), what: 'the provider fault rate-limit', channel });
  await phone.fault({ channel, fault: 'rate-limit', ms: 70_000, count: 1 });
  const written = await leads.request(channel);
  const id = await conversationOf(context, written);
  if (id === null) return;
  const waits = async () => (await facts.openSend(id))?.waits;
  if (!(await waitFor(waits, { timeoutMs: SEEN_MS, everyMs: 200 }))) return;
  leads.provoked.set(`${channel}/${written.lead}`, 'its hour was let pass');
  await facts.age(id, HOUR_S + 5);
}

/** The time until a quiet conversation's next follow-up passes. */
async function followUpDue({ facts, leads }) {
  const quiet = await facts.quiet();
  if (quiet === null) await leads.request();
  else await facts.age(quiet.id, quiet.dueInSeconds + 1);
}

/** A lead asks for a person and nobody comes. */
async function nobodyComes(context) {
  const { leads, facts } = context;
  const person = leads.newPerson();
  leads.provoked.set(`${person.channel}/${person.lead}`, 'asked for a person');
  const written = await leads.write(person, 'I want to talk to a real person, please');
  const id = await conversationOf(context, written);
  if (id === null) return;
  const item = await waitFor(() => facts.itemOf(id), { timeoutMs: SEEN_MS, everyMs: 200 });
  if (item) await facts.age(id, item.dueInSeconds + 1);
}

/** Somebody has to be told, and the last notice was long enough ago. */
async function noticed({ leads, facts }) {
  const person = leads.newPerson();
  leads.provoked.set(`${person.channel}/${person.lead}`, 'asked for a person');
  await leads.write(person, 'I want to talk to a real person, please');
  await facts.ageNotices();
}

/** A debt that nobody works on for some minutes; whoever provokes it keeps the workers down. */
async function owedForMinutes(context) {
  const written = await context.leads.request();
  const id = await conversationOf(context, written);
  if (id !== null) await context.facts.age(id, OVERDUE_S);
}

let commands = 0;

/** Staff mark a conversation as booked, and repeat it until it is answered. */
async function booked({ facts, leads, apiUrl }) {
  const unbooked = await facts.unbooked();
  if (unbooked === null) {
    await leads.request();
    return;
  }
  commands += 1;
  const order = {
    method: 'POST',
    headers: {
      authorization: `Bearer ${STAFF_TOKEN}`,
      'content-type': 'application/json',
      'idempotency-key': `chaos-${process.pid}-${commands}`,
    },
    body: '{}',
  };
  await waitFor(
    async () => {
      try {
        const url = `${apiUrl}/api/conversations/${unbooked.id}/book`;
        const signal = AbortSignal.timeout(5_000);
        return (await fetch(url, { ...order, signal })).status < 500;
      } catch {
        // The api was killed before it answered; the key makes the repetition safe.
        return false;
      }
    },
    { timeoutMs: 20_000, everyMs: 500 },
  );
}

const onPath = { provoke: request };
const readBack = {
  rare: true,
  provoke: (context) =>
    unknownPastLimit(
      context,
      context.seeded.pick(['messenger', 'instagram']),
      'timeout-after-accept',
    ),
};
const RECIPES = {
  'command:received': { provoke: booked },
  'command:committed': { provoke: booked },
  'deliver:refused': { provoke: refused },
  'deliver:refusal-recorded': { provoke: refused },
  'deliver:unknown': { provoke: answerLost },
  'deliver:unknown-recorded': { provoke: answerLost },
  'resolve:taken': readBack,
  'resolve:read-back': readBack,
  'resolve:proven': readBack,
  'resolve:reviewed': {
    rare: true,
    provoke: (context) => unknownPastLimit(context, 'whatsapp', 'timeout-before-accept'),
  },
  // Only an acceptance that could not be recorded comes this way.
  'record:taken': { provoke: request, with: 'deliver:accepted=throw' },
  'record:recorded': { provoke: request, with: 'deliver:accepted=throw' },
  'expire:ended': { rare: true, provoke: expired },
  'expire:committed': { rare: true, provoke: expired },
  'follow-up:written': { rare: true, provoke: followUpDue },
  'follow-up:committed': { rare: true, provoke: followUpDue },
  'relay:taken': { provoke: followUpDue },
  'relay:woken': { provoke: followUpDue },
  'relay:noted': { provoke: followUpDue },
  'escalate:raised': { rare: true, provoke: nobodyComes },
  'escalate:committed': { rare: true, provoke: nobodyComes },
  'sweep:taken': { staged: true, provoke: owedForMinutes },
  'sweep:acted': { staged: true, provoke: owedForMinutes },
  'sweep:woken': { staged: true, provoke: owedForMinutes },
  'notice:written': { provoke: noticed },
  'notice:claimed': { provoke: noticed },
  'notice:sent': { provoke: noticed },
  'notice:ended': { provoke: noticed },
};

/** What `UNSILENT_FAILPOINT` has to be for a point to be reached. */
export function armingOf(point) {
  const more = RECIPES[point]?.with;
  return more === undefined ? `${point}=kill` : `${more},${point}=kill`;
}

/** Whether it is reached only by what its recipe brings about, in whichever worker takes that. */
export function isRare(point) {
  return RECIPES[point]?.rare === true;
}

/** Whether its recipe needs that no worker takes the conversations meanwhile. */
export function isStaged(point) {
  return RECIPES[point]?.staged === true;
}

/** Does once what leads to the point. */
export function provoke(point, context) {
  return (RECIPES[point] ?? onPath).provoke(context);
}
