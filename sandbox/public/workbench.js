import { armFault, clearFaults, listFaults, readLedger } from './api.js';
import { CHANNELS } from './channels-view.js';
import { byId, clockTime, make } from './dom.js';

/** What each fault does, in the words of a person who looks at the phone. */
const FAULTS = {
  'timeout-before-accept': 'The provider never answers and accepts nothing.',
  'timeout-after-accept': 'The provider accepts, but its answer never comes.',
  hang: 'The provider takes 12 seconds, then accepts and answers.',
  'error-500': 'The provider answers 500 and accepts nothing.',
  'error-500-after-accept': 'The provider accepts, but answers 500.',
  'accepted-then-failed': 'The provider accepts; later it says that the message failed.',
  'success-with-inner-error': 'The provider answers 200 with an error inside.',
  'rate-limit': 'The provider answers 429 with Retry-After.',
  'auth-expired': 'The provider says that the token has expired.',
  'readback-lag': 'The next read-back does not show the last minute yet.',
  'status-before-response': 'Echo or status arrive before the answer to the send.',
  'webhook-lost': 'The next webhook never arrives.',
  'webhook-duplicate': 'The next webhook arrives twice.',
  'webhook-reordered': 'The next webhook arrives after the one that follows it.',
  'webhook-altered': 'The next webhook arrives again with the same id and other content.',
};

const SHOWN_MAX = 30;
const HOUR_MS = 3_600_000;

const row = (when, text) =>
  make('li', {}, [make('span', { class: 'when' }, [clockTime(when)]), text]);

async function showFaults() {
  const armed = await listFaults();
  const items = armed.map(({ channel, fault, count }) =>
    make('li', {}, [`${channel}: ${fault} × ${count}`]),
  );
  byId('fault-list').replaceChildren(...(items.length > 0 ? items : [make('li', {}, ['None'])]));
}

async function showLedger() {
  const sends = await readLedger(new Date(Date.now() - HOUR_MS).toISOString());
  const items = sends
    .slice(-SHOWN_MAX)
    .reverse()
    .map(({ acceptedAt, channel, lead, text }) =>
      row(acceptedAt, `${channel} to ${lead}: ${text}`),
    );
  const none = make('li', {}, ['None in the last hour']);
  byId('ledger').replaceChildren(...(items.length > 0 ? items : [none]));
}

function showHelp() {
  byId('fault-help').textContent = FAULTS[byId('fault-name').value] ?? '';
}

/** Adds one delivery to the list of webhooks, the newest on top. */
export function noteWebhook({ channel, nature, status, attempt, reason }) {
  const outcome = status === 0 ? `no answer (${reason ?? 'unknown'})` : `answered ${status}`;
  const retry = attempt > 1 ? `, try ${attempt}` : '';
  const list = byId('webhooks');
  list.prepend(row(new Date().toISOString(), `${channel} ${nature}: ${outcome}${retry}`));
  while (list.children.length > SHOWN_MAX) list.lastElementChild?.remove();
}

const REFRESH_MS = 300;
let refreshTimer;

async function refresh() {
  await Promise.all([showFaults(), showLedger()]);
}

/** The drawer covers the page, so it shows its own errors. */
function fail(error) {
  byId('fault-help').textContent = error.message;
}

/** Looks again soon at what is armed and accepted, if the drawer is open; once for many calls. */
export function refreshWorkbench() {
  if (!byId('workbench').open || refreshTimer !== undefined) return;
  refreshTimer = setTimeout(() => {
    refreshTimer = undefined;
    refresh().catch(fail);
  }, REFRESH_MS);
}

/** Builds the drawer. */
export function buildWorkbench(currentChannel) {
  const drawer = byId('workbench');
  const run = (work) => () => work().catch(fail);
  byId('fault-channel').append(
    ...CHANNELS.map(({ id, name }) => make('option', { value: id }, [name])),
  );
  byId('fault-name').append(...Object.keys(FAULTS).map((f) => make('option', { value: f }, [f])));
  byId('fault-name').addEventListener('change', showHelp);
  byId('open-workbench').addEventListener('click', () => {
    byId('fault-channel').value = currentChannel();
    drawer.showModal();
    showHelp();
    run(refresh)();
  });
  byId('close-workbench').addEventListener('click', () => drawer.close());
  byId('clear-faults').addEventListener(
    'click',
    run(() => clearFaults().then(refresh)),
  );
  byId('fault-form').addEventListener('submit', (event) => {
    event.preventDefault();
    const fault = {
      channel: byId('fault-channel').value,
      fault: byId('fault-name').value,
      count: Number(byId('fault-count').value),
    };
    run(() => armFault(fault).then(refresh))();
  });
}
