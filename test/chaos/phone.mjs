/** The sandbox: the phone of every lead, its ledger, its faults. */

async function readJson(url, init) {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(60_000) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  const text = await response.text();
  return text === '' ? null : JSON.parse(text);
}

/** Talks to the sandbox: the phone of every lead, its ledger, its faults. */
export function makePhone(sandboxUrl) {
  const post = (path, body) =>
    readJson(`${sandboxUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  return {
    write: (channel, order) => post(`/phone/${channel}/messages`, order),
    fault: (fault) => post('/faults', fault),
    clearFaults: () => readJson(`${sandboxUrl}/faults`, { method: 'DELETE' }),
    thread: (channel, lead) =>
      readJson(`${sandboxUrl}/phone/${channel}/threads/${encodeURIComponent(lead)}`),
    ledger: () => readJson(`${sandboxUrl}/ledger`),
    deliveries: () => readJson(`${sandboxUrl}/deliveries`),
  };
}
