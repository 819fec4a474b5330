import { startSandbox } from './server';
import type { SandboxOptions } from './settings';

/** Only names that are set override a default; the values are checked where they are used. */
function optionsFrom(environment: NodeJS.ProcessEnv): SandboxOptions {
  const { SANDBOX_PORT, SANDBOX_HOST, SANDBOX_STATE_FILE, PUBLIC_URL } = environment;
  const { META_APP_SECRET, META_VERIFY_TOKEN } = environment;
  const { TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN } = environment;
  return {
    ...(SANDBOX_PORT === undefined ? {} : { port: Number(SANDBOX_PORT) }),
    ...(SANDBOX_HOST === undefined ? {} : { host: SANDBOX_HOST }),
    ...(SANDBOX_STATE_FILE === undefined ? {} : { stateFile: SANDBOX_STATE_FILE }),
    ...(PUBLIC_URL === undefined ? {} : { publicUrl: PUBLIC_URL }),
    ...(META_APP_SECRET === undefined ? {} : { metaAppSecret: META_APP_SECRET }),
    ...(META_VERIFY_TOKEN === undefined ? {} : { metaVerifyToken: META_VERIFY_TOKEN }),
    ...(TWILIO_ACCOUNT_SID === undefined ? {} : { twilioAccountSid: TWILIO_ACCOUNT_SID }),
    ...(TWILIO_AUTH_TOKEN === undefined ? {} : { twilioAuthToken: TWILIO_AUTH_TOKEN }),
  };
}

async function main(): Promise<void> {
  if (process.env['NODE_ENV'] === 'production') {
    throw new Error('The sandbox imitates providers; it does not start in production.');
  }
  const sandbox = await startSandbox(optionsFrom(process.env));
  process.stdout.write(`sandbox listening on ${sandbox.url}\n`);
  const stop = (): void => {
    sandbox.close().catch((error: unknown) => {
      process.stderr.write(`sandbox: ${String(error)}\n`);
      process.exitCode = 1;
    });
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}

main().catch((error: unknown) => {
  process.stderr.write(`sandbox: ${String(error)}\n`);
  process.exitCode = 1;
});
