import * as api from './api.js';
import { buildChannels, CHANNELS, showChannel } from './channels-view.js';
import { byId, make } from './dom.js';
import { showLeads } from './leads-view.js';
import { initialsOf, suggestName } from './names.js';
import { showThread } from './thread-view.js';
import { buildWorkbench, noteWebhook, refreshWorkbench } from './workbench.js';

const SUGGESTIONS = [
  'My water heater is leaking, can you come today? 60614',
  'Hi',
  'How much for a drain cleaning?',
  'Can I talk to a person?',
  'Does tomorrow 9 am work?',
  'STOP',
];
const DEMO_LEADS = ['Robin Fields', 'Marta Okafor', 'Devon Lindqvist'];
const REMEMBERED = 'phone.place';
const TYPING_SHOWN_MS = 6_000;

const state = {
  channel: 'messenger',
  lead: DEMO_LEADS[0],
  /** Per channel: newest message of each lead. */
  threads: [],
  entries: [],
  /** Names that have not written yet on this channel. */
  fresh: new Set(DEMO_LEADS),
  pending: [],
};
let typingTimer;

function fail(error) {
  byId('banner').textContent = error instanceof Error ? error.message : String(error);
  byId('banner').hidden = false;
}

function allLeads() {
  const known = new Set(state.threads.map(({ lead }) => lead));
  const fresh = [...state.fresh].filter((lead) => !known.has(lead));
  return [...fresh.map((lead) => ({ lead, last: null })), ...state.threads];
}

function draw() {
  showLeads(allLeads(), state.lead, (lead) => open(lead).catch(fail));
  const inFlight = state.pending.filter(
    (entry) => entry.channel === state.channel && entry.lead === state.lead,
  );
  // The provider has it at once; whether the business does is known when the call returns.
  const entries = state.entries.map((entry) => {
    const waits = entry.from === 'lead' && entry.webhookStatus === undefined;
    return waits && inFlight.length > 0 ? { ...entry, pending: true } : entry;
  });
  showThread(state.lead, [...entries, ...inFlight.filter(({ arrived }) => !arrived)]);
  byId('subtitle').textContent = `You are ${state.lead}`;
}

async function refresh() {
  const { channel, lead } = state;
  const [threads, entries] = await Promise.all([
    api.listThreads(channel),
    api.readThread(channel, lead),
  ]);
  if (channel !== state.channel || lead !== state.lead) return;
  Object.assign(state, { threads, entries });
  draw();
}

function showTyping(typing) {
  clearTimeout(typingTimer);
  byId('typing').hidden = !typing;
  if (typing) typingTimer = setTimeout(() => showTyping(false), TYPING_SHOWN_MS);
}

async function open(lead) {
  state.lead = lead;
  state.entries = [];
  document.body.classList.add('in-thread');
  localStorage.setItem(REMEMBERED, JSON.stringify({ channel: state.channel, lead }));
  showTyping(false);
  await refresh();
  byId('composer-text').focus();
}

async function choose(channel) {
  state.channel = channel;
  state.entries = [];
  state.threads = [];
  localStorage.setItem(REMEMBERED, JSON.stringify({ channel, lead: state.lead }));
  showChannel(channel);
  showTyping(false);
  byId('banner').hidden = true;
  byId('username-switch').hidden = channel !== 'whatsapp';
  await refresh();
}

/** Says in plain words that the business did not take a message. */
function showReachability(channel, status) {
  const name = CHANNELS.find(({ id }) => id === channel)?.name ?? channel;
  const reached = status >= 200 && status < 300;
  byId('banner').hidden = reached;
  if (reached) return;
  const how =
    status === 0 ? 'could not be reached' : `answered ${status} instead of taking the message`;
  const next = channel === 'sms' ? 'Twilio does not try again.' : 'Meta tries again a few times.';
  byId('banner').textContent = `${name}: the business's webhook ${how}. ${next}`;
}

async function send(text, media = []) {
  const { channel, lead } = state;
  const at = new Date().toISOString();
  const providerMessageId = `pending ${at} ${Math.random()}`;
  const shown = {
    at,
    from: 'lead',
    text,
    media: media.map(({ kind }) => kind),
    pending: true,
    arrived: false,
  };
  const pending = { ...shown, channel, lead, providerMessageId };
  state.pending.push(pending);
  draw();
  const hidden = channel === 'whatsapp' && byId('hide-phone').checked;
  const options = hidden ? { addressing: 'bsuid-only' } : {};
  try {
    const answer = await api.sendMessage(channel, { lead, text, media, options });
    if (answer.note !== undefined) fail(new Error(`No webhook was delivered: ${answer.note}.`));
    else showReachability(channel, answer.webhookStatus);
  } finally {
    state.pending = state.pending.filter((entry) => entry !== pending);
    await refresh();
  }
}

function putEntry({ channel, lead, entry }) {
  if (channel !== state.channel) return;
  if (entry.from === 'lead') {
    const sent = state.pending.find((p) => !p.arrived && p.lead === lead && p.text === entry.text);
    if (sent !== undefined) sent.arrived = true;
  }
  const others = state.threads.filter((thread) => thread.lead !== lead);
  const known = state.threads.find((thread) => thread.lead === lead);
  const last = known !== undefined && known.last.at > entry.at ? known.last : entry;
  state.threads = [{ lead, last }, ...others].sort((a, b) => (a.last.at < b.last.at ? 1 : -1));
  if (lead === state.lead) {
    const kept = state.entries.filter((e) => e.providerMessageId !== entry.providerMessageId);
    state.entries = [...kept, entry].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
    if (entry.from === 'business') showTyping(false);
  }
  draw();
}

function hear(event) {
  if (event.type === 'thread') putEntry(event);
  if (event.type === 'typing' && event.channel === state.channel && event.lead === state.lead) {
    showTyping(event.typing);
  }
  if (event.type === 'webhook') {
    noteWebhook(event);
    const recovered = event.status >= 200 && event.status < 300;
    if (recovered && event.channel === state.channel && event.nature === 'inbound') {
      byId('banner').hidden = true;
    }
  }
  if (event.type === 'faults' || event.type === 'thread') refreshWorkbench();
}

function buildComposer() {
  const field = byId('composer-text');
  const submit = () => {
    const text = field.value;
    if (text.trim() === '') return;
    field.value = '';
    send(text).catch(fail);
  };
  byId('composer').addEventListener('submit', (event) => {
    event.preventDefault();
    submit();
    field.focus();
  });
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submit();
  });
  byId('attach').addEventListener('click', () => {
    const text = field.value;
    field.value = '';
    send(text, [{ kind: 'image' }]).catch(fail);
  });
  const buttons = SUGGESTIONS.map((text) => {
    const button = make('button', { type: 'button', title: text }, [text]);
    button.addEventListener('click', () => send(text).catch(fail));
    return button;
  });
  byId('suggestions').append(...buttons);
}

function buildNewLead() {
  const field = byId('new-lead-name');
  const suggest = () => {
    field.value = suggestName(new Set(allLeads().map(({ lead }) => lead)));
  };
  suggest();
  byId('new-lead-form').addEventListener('submit', (event) => {
    event.preventDefault();
    const name = field.value.trim();
    if (name === '') return;
    state.fresh.add(name);
    suggest();
    open(name).catch(fail);
  });
  byId('back').addEventListener('click', () => document.body.classList.remove('in-thread'));
}

function rememberedPlace() {
  try {
    const place = JSON.parse(localStorage.getItem(REMEMBERED) ?? '{}');
    const channel = CHANNELS.some(({ id }) => id === place.channel) ? place.channel : 'messenger';
    return { channel, lead: typeof place.lead === 'string' ? place.lead : DEMO_LEADS[0] };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { channel: 'messenger', lead: DEMO_LEADS[0] };
  }
}

async function start() {
  buildChannels((channel) => choose(channel).catch(fail));
  buildComposer();
  buildNewLead();
  buildWorkbench(() => state.channel);
  const { channel, lead } = rememberedPlace();
  state.lead = lead;
  state.fresh.add(lead);
  await choose(channel);
  api.listen(hear, () => refresh().catch(fail));
  const [account] = await api.listAccounts();
  if (account !== undefined) {
    byId('business-name').textContent = account.name;
    byId('business-avatar').textContent = initialsOf(account.name);
  }
}

start().catch(fail);
