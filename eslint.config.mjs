import { builtinModules } from 'node:module';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';
import { unsilentRules } from './dev/lint/rules.mjs';

/** Folders whose code serves customers; the budgets of `docs/` hold here without exception. */
const PRODUCT = [
  'activities',
  'ai',
  'api',
  'channels',
  'cli',
  'config',
  'db',
  'domain',
  'sandbox',
  'upkeep',
  'workers',
  'workflows',
];
const files = (...folders) => folders.map((folder) => `${folder}/**/*.ts`);
const SCRIPTS = ['**/*.mjs', '**/*.cjs', '**/*.js'];

const NODE_GLOBALS = [
  'AbortController',
  'AbortSignal',
  'Buffer',
  'URL',
  'URLSearchParams',
  'clearInterval',
  'clearTimeout',
  'console',
  'fetch',
  'performance',
  'process',
  'setImmediate',
  'setInterval',
  'setTimeout',
];
const BROWSER_GLOBALS = ['EventSource', 'document', 'localStorage', 'location', 'window'];
const COMMONJS_GLOBALS = ['__dirname', '__filename', 'exports', 'module', 'require'];
const readonly = (names) => Object.fromEntries(names.map((name) => [name, 'readonly']));

const budgets = {
  'max-lines': ['error', { max: 400, skipBlankLines: false, skipComments: false }],
  'max-lines-per-function': ['error', { max: 70 }],
  'max-params': ['error', 4],
  'max-depth': ['error', 3],
  complexity: ['error', 12],
};

const habits = {
  eqeqeq: ['error', 'always'],
  'no-empty': 'error',
  'no-useless-catch': 'error',
  'no-var': 'error',
  'prefer-const': 'error',
  'preserve-caught-error': 'error',
  'no-warning-comments': ['error', { terms: ['todo', 'fixme', 'xxx'], location: 'start' }],
  'no-throw-literal': 'error',
};

const noEnvironment = {
  'no-restricted-properties': [
    'error',
    {
      object: 'process',
      property: 'env',
      message: 'Only config/ reads the environment; take the value as an argument.',
    },
  ],
  'no-restricted-imports': [
    'error',
    {
      paths: ['process', 'node:process'].map((name) => ({
        name,
        importNames: ['env'],
        message: 'Only config/ reads the environment.',
      })),
    },
  ],
};

/** What differs between two runs of the same rule, or between two hosts. */
const UNREPEATABLE_GLOBALS = [
  ...['Temporal', 'performance', 'crypto', 'process', 'console', 'globalThis', 'global', 'Buffer'],
  ...['fetch', 'setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'structuredClone'],
  ...['require', '__dirname', '__filename'],
].map((name) => ({ name, message: 'Rules and workflows get it as an argument, or do without.' }));

const LOCAL_TIME =
  '/^(get|set)(FullYear|Month|Date|Day|Hours|Minutes|Seconds|Milliseconds)$|^getTimezoneOffset$/';

const UNREPEATABLE_SYNTAX = [
  {
    selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
    message: 'The instant comes in as an argument.',
  },
  {
    selector: "NewExpression[callee.name='Date'][arguments.length=0]",
    message: 'The instant comes in as an argument.',
  },
  { selector: "CallExpression[callee.name='Date']", message: 'It reads the clock of the host.' },
  {
    selector: "MemberExpression[object.name='Math'][property.name='random']",
    message: 'Randomness comes in as an argument.',
  },
  {
    selector: `CallExpression[callee.property.name=${LOCAL_TIME}]`,
    message: 'It reads the time zone of the host; use the UTC form or a zone of the business.',
  },
  {
    selector: 'CallExpression[callee.property.name=/^toLocale/][arguments.length=0]',
    message: 'It reads the locale of the host.',
  },
  {
    selector: "CallExpression[callee.property.name='localeCompare'][arguments.length<2]",
    message: 'It reads the locale of the host.',
  },
  {
    selector: "[callee.object.name='Intl'][arguments.length=0]",
    message: 'It reads the locale of the host.',
  },
];

const NO_DEFAULT_EXPORT = {
  selector: 'ExportDefaultDeclaration',
  message: 'Exports are named, so that one thing has one name everywhere.',
};

const WORKFLOW_SYNTAX = [
  {
    selector: "CallExpression[callee.object.name='Promise'][callee.property.name='race']",
    message: 'The loser stays open in the history; use condition() with a deadline.',
  },
  {
    selector: "CallExpression[callee.name='setHandler'] > [async=true]",
    message: 'A handler only sets a flag; work done in it can be cut off by the end of the run.',
  },
];

const BUILTINS = builtinModules.filter((name) => !name.startsWith('_')).join('|');

const noBuiltins = [
  'error',
  {
    patterns: [
      {
        regex: `^(node:.*|(${BUILTINS})(/.*)?)$`,
        message: 'No Node built-ins here: this code runs in the workflow sandbox.',
      },
    ],
  },
];

const typed = {
  '@typescript-eslint/no-floating-promises': 'error',
  '@typescript-eslint/no-explicit-any': 'error',
  '@typescript-eslint/switch-exhaustiveness-check': [
    'error',
    { considerDefaultExhaustiveForUnions: true },
  ],
  '@typescript-eslint/consistent-type-imports': 'error',
  '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
  '@typescript-eslint/no-unused-vars': [
    'error',
    { argsIgnorePattern: '^_', ignoreRestSiblings: true },
  ],
  '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
  '@typescript-eslint/only-throw-error': 'error',
};

export default defineConfig(
  globalIgnores([
    '**/node_modules/**',
    '**/dist/**',
    'coverage/**',
    '.tmp/**',
    '.tools/**',
    '.unsilent/**',
    '**/migrations/**',
    'web/src/generated/**',
    '**/*.d.ts',
  ]),
  {
    linterOptions: { noInlineConfig: true },
    plugins: { '@typescript-eslint': tseslint.plugin, unsilent: unsilentRules },
    rules: { ...budgets, ...habits },
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: typed,
  },
  {
    files: SCRIPTS,
    languageOptions: { globals: readonly(NODE_GLOBALS) },
    rules: { 'no-undef': 'error', 'no-unused-vars': ['error', { argsIgnorePattern: '^_' }] },
  },
  {
    files: ['**/*.cjs'],
    languageOptions: { sourceType: 'commonjs', globals: readonly(COMMONJS_GLOBALS) },
  },
  {
    files: ['test/setup/*.cjs'],
    languageOptions: { globals: readonly(['jest', 'globalThis']) },
  },
  {
    files: ['sandbox/public/**/*.js', 'web/**/*.js'],
    languageOptions: { globals: readonly(BROWSER_GLOBALS) },
  },
  {
    files: files(...PRODUCT),
    rules: {
      '@typescript-eslint/consistent-type-assertions': ['error', { assertionStyle: 'never' }],
      'no-restricted-syntax': ['error', NO_DEFAULT_EXPORT],
      'unsilent/documented-exports': 'error',
      'no-console': 'error',
      ...noEnvironment,
    },
  },
  {
    // A row read from Postgres has the type that the schema promises; the cast stands where it is read.
    files: files('db'),
    rules: {
      '@typescript-eslint/consistent-type-assertions': ['error', { assertionStyle: 'as' }],
    },
  },
  {
    // drizzle-kit reads its configuration from a default export.
    files: ['**/drizzle.config.ts'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    // A main.ts hands the environment to config/ and says in plain words why it cannot start.
    files: ['config/**/*.ts', '**/main.ts'],
    rules: { 'no-restricted-properties': 'off', 'no-restricted-imports': 'off' },
  },
  {
    files: ['**/main.ts'],
    rules: { 'no-console': 'off' },
  },
  {
    // A command prints its result for a person.
    files: files('cli'),
    rules: { 'no-console': 'off' },
  },
  {
    files: files('domain', 'workflows'),
    rules: {
      'no-restricted-globals': ['error', ...UNREPEATABLE_GLOBALS],
      'no-restricted-imports': noBuiltins,
      'no-restricted-syntax': ['error', NO_DEFAULT_EXPORT, ...UNREPEATABLE_SYNTAX],
    },
  },
  {
    files: files('domain'),
    rules: { 'max-lines-per-function': ['error', { max: 40 }] },
  },
  {
    files: files('workflows'),
    rules: {
      'no-restricted-syntax': [
        'error',
        NO_DEFAULT_EXPORT,
        // The sandbox's own Date.now() is the time of the workflow task, the same on every replay.
        ...UNREPEATABLE_SYNTAX.filter(({ selector }) => !selector.includes("'now'")),
        ...WORKFLOW_SYNTAX,
      ],
    },
  },
  {
    files: ['test/**/*.ts', 'test/**/*.tsx', 'web/**/*.test.ts', 'web/**/*.test.tsx'],
    rules: {
      'max-lines-per-function': 'off',
      'unsilent/max-lines-per-test': 'error',
      // Jest's asymmetric matchers are typed `any`, and `expect(object.method)` never calls it.
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
);
