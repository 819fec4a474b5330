/** Reads what `npm start` was asked for, and writes down what its children are told. */
import { join, relative } from 'node:path';
import { homeFolder } from './machine.mjs';
import { readPort } from './ports.mjs';

/** The ports, and which of the two servers come from outside (the environment of `contract.md`). */
export function readPlan() {
  const embedsPostgres = !process.env.DATABASE_URL;
  const embedsTemporal = !process.env.TEMPORAL_ADDRESS && !process.env.TEMPORAL_PROFILE;
  const ports = {
    PORT: readPort('PORT', 3000),
    SANDBOX_PORT: readPort('SANDBOX_PORT', 3100),
    ...(embedsPostgres && { DATABASE_PORT: readPort('DATABASE_PORT', 54_329) }),
    ...(embedsTemporal && {
      TEMPORAL_PORT: readPort('TEMPORAL_PORT', 7233),
      TEMPORAL_UI_PORT: readPort('TEMPORAL_UI_PORT', 8233),
    }),
  };
  return { home: homeFolder(), ports, embedsPostgres, embedsTemporal };
}

/** The environment of every child: the person's own, and what this run decided. */
export function childEnvironment(plan, secrets, databaseUrl) {
  const { ports } = plan;
  const sandbox = `http://127.0.0.1:${ports.SANDBOX_PORT}`;
  return {
    ...temporalEnvironment(plan),
    NODE_ENV: 'development',
    TZ: 'UTC',
    UNSILENT_HOME: plan.home,
    PORT: String(ports.PORT),
    SANDBOX_PORT: String(ports.SANDBOX_PORT),
    SANDBOX_STATE_FILE: join(plan.home, 'sandbox.jsonl'),
    PUBLIC_URL: process.env.PUBLIC_URL || `http://localhost:${ports.PORT}`,
    DATABASE_URL: databaseUrl,
    DATABASE_ROLE_PASSWORD: secrets.DATABASE_ROLE_PASSWORD,
    HASH_KEY: secrets.HASH_KEY,
    META_APP_SECRET: secrets.META_APP_SECRET,
    META_VERIFY_TOKEN: secrets.META_VERIFY_TOKEN,
    META_GRAPH_URL: `${sandbox}/graph`,
    TWILIO_ACCOUNT_SID: 'AC00000000000000000000000000000001',
    TWILIO_AUTH_TOKEN: secrets.TWILIO_AUTH_TOKEN,
    TWILIO_API_URL: `${sandbox}/twilio`,
    DEMO_TOKEN: secrets.DEMO_TOKEN,
  };
}

/** For the embedded server the person's own profiles, keys and certificates do not apply. */
function temporalEnvironment({ embedsTemporal, ports }) {
  if (!embedsTemporal) return { TEMPORAL_NAMESPACE: 'default', ...process.env };
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('TEMPORAL_'));
  return {
    ...Object.fromEntries(others),
    TEMPORAL_ADDRESS: `127.0.0.1:${ports.TEMPORAL_PORT}`,
    TEMPORAL_NAMESPACE: 'default',
  };
}

/** What a person needs to know once everything runs. */
export function describe(plan, env) {
  const home = relative(process.cwd(), plan.home) || '.';
  const local = (port, path = '') => `http://localhost:${port}${path}`;
  const lines = [
    ['Console', local(plan.ports.PORT)],
    ["Customer's phone", local(plan.ports.SANDBOX_PORT)],
    ...(plan.embedsTemporal ? [['Temporal Web UI', local(plan.ports.TEMPORAL_UI_PORT)]] : []),
    ['API', local(plan.ports.PORT, '/api/docs')],
    ['Demo token', `${env.DEMO_TOKEN} (kept in ${home}/demo-token)`],
  ];
  const table = lines.map(([name, value]) => `  ${name.padEnd(18)}${value}`).join('\n');
  return `\nUnsilent runs. Ctrl-C stops it; the data stays in ${home}.\n\n${table}\n`;
}
