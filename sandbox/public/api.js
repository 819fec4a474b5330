/** Calls the sandbox; a refusal becomes an error with the sandbox's own words. */
async function call(path, init = {}) {
  const response = await fetch(path, init);
  const text = await response.text();
  const body = text === '' ? null : JSON.parse(text);
  if (!response.ok) throw new Error(body?.error ?? `The sandbox answered ${response.status}.`);
  return body;
}

function post(path, body) {
  const headers = { 'content-type': 'application/json' };
  return call(path, { method: 'POST', headers, body: JSON.stringify(body) });
}

export const listAccounts = () => call('accounts');
export const listThreads = (channel) => call(`phone/${channel}/threads`);
export const readThread = (channel, lead) =>
  call(`phone/${channel}/threads/${encodeURIComponent(lead)}`);
export const sendMessage = (channel, message) => post(`phone/${channel}/messages`, message);
export const listFaults = () => call('faults');
export const armFault = (fault) => post('faults', fault);
export const clearFaults = () => call('faults', { method: 'DELETE' });
export const readLedger = (since) => call(`ledger?since=${encodeURIComponent(since)}`);

const POLL_MS = 2_000;

/**
 * Live updates: `onEvent` for each event, `onGap` when the page should look again because it may
 * have missed some. While the stream is down it polls.
 */
export function listen(onEvent, onGap) {
  let poll;
  const source = new EventSource('phone/events');
  source.addEventListener('open', () => {
    clearInterval(poll);
    poll = undefined;
    onGap();
  });
  source.addEventListener('message', (message) => onEvent(JSON.parse(message.data)));
  source.addEventListener('error', () => {
    poll ??= setInterval(onGap, POLL_MS);
  });
}
