/**
 * Failpoints for tests with real processes: `UNSILENT_FAILPOINT=deliver:accepted=kill` ends the
 * process with SIGKILL the first time it reaches that point; `=throw` throws there once. Refused
 * in production by the configuration.
 */
export function makeFailpoints(armed: string | undefined): (point: string) => void {
  if (armed === undefined) return () => undefined;
  const [name, action] = armed.split('=');
  let spent = false;
  return (point) => {
    if (point !== name || spent) return;
    spent = true;
    if (action === 'kill') process.kill(process.pid, 'SIGKILL');
    throw new Error(`failpoint ${point}`);
  };
}
