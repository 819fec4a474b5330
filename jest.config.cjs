/**
 * One project per tier. The suffix of a test file names its tier, and so what the test may use:
 * `unit` nothing, `db` Postgres, `workflow` Postgres and the time-skipping server, `process` real
 * processes (one file at a time), `browser` a real Chromium.
 */
process.env.TZ ??= 'UTC';

const ES_ONLY_PACKAGES = ['temporal-polyfill', 'temporal-utils', 'temporal-spec'];

const shared = {
  rootDir: __dirname,
  roots: ['<rootDir>/test'],
  testEnvironment: 'node',
  transform: {
    '^.+\\.[cm]?[tj]sx?$': [
      '@swc/jest',
      {
        swcrc: false,
        jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
        module: { type: 'commonjs' },
      },
    ],
  },
  // Plain Node loads these through `require`; jest cannot, so swc converts them.
  transformIgnorePatterns: [`/node_modules/(?!(${ES_ONLY_PACKAGES.join('|')})/)`],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.unsilent/', '<rootDir>/.tmp/'],
};

const SETUP = '<rootDir>/test/setup';
const WITH_POSTGRES = {
  globalSetup: `${SETUP}/postgres.mjs`,
  globalTeardown: `${SETUP}/teardown.mjs`,
};

/** How long one test or hook of a tier may take, and what else runs before its files. */
function limit(milliseconds, ...files) {
  return {
    globals: { TEST_TIMEOUT_MS: milliseconds },
    setupFilesAfterEnv: [`${SETUP}/timeout.cjs`, ...files],
  };
}

function tier(name, options) {
  return {
    ...shared,
    displayName: name,
    testMatch: [`<rootDir>/test/**/*.${name}.test.ts`],
    ...options,
  };
}

/** @type {import('jest').Config} */
module.exports = {
  maxWorkers: 2,
  projects: [
    tier('unit', {}),
    tier('db', { ...WITH_POSTGRES, ...limit(30_000) }),
    tier('workflow', {
      globalSetup: `${SETUP}/workflow.mjs`,
      globalTeardown: `${SETUP}/teardown.mjs`,
      ...limit(60_000),
    }),
    // These two build `dist/`, so that their programs are never older than the sources.
    tier('process', {
      globalSetup: `${SETUP}/process.mjs`,
      globalTeardown: `${SETUP}/teardown.mjs`,
      runner: `${SETUP}/serial-runner.cjs`,
      ...limit(180_000),
    }),
    tier('browser', {
      globalSetup: `${SETUP}/browser.mjs`,
      ...limit(120_000, `${SETUP}/skip-without-chromium.cjs`),
      globalTeardown: `${SETUP}/teardown.mjs`,
      runner: `${SETUP}/serial-runner.cjs`,
    }),
  ],
};
