/**
 * The import borders of the folders. Every folder is one execution context, so an import that
 * crosses a border usually drags something into a place where it cannot run. The table below is
 * the whole rule; each entry says what the folder may import besides itself.
 */
const MAY_IMPORT = {
  domain: [],
  workflows: ['domain/', 'activities/contract\\.ts$'],
  activities: ['domain/', 'db/', 'channels/port\\.ts$', 'ai/port\\.ts$', 'config/'],
  channels: ['domain/', 'config/'],
  ai: ['domain/', 'config/'],
  db: ['domain/', 'config/'],
  api: [
    ...['domain/', 'db/', 'channels/', 'ai/', 'upkeep/', 'config/'],
    'workflows/contract\\.ts$',
  ],
  upkeep: ['domain/', 'db/', 'channels/', 'config/', 'workflows/contract\\.ts$'],
  workers: [
    ...['domain/', 'workflows/', 'activities/', 'channels/', 'ai/', 'db/', 'upkeep/', 'config/'],
    ...['cli/', 'sandbox/'],
  ],
  config: [],
  cli: [
    ...['domain/', 'workflows/', 'activities/', 'channels/', 'ai/', 'db/', 'upkeep/', 'config/'],
    ...['workers/', 'sandbox/'],
  ],
  sandbox: ['domain/ids\\.ts$', 'config/'],
  web: [],
};

/** `dev`, `test` and `bench` may import anything; nothing may import them. */
const TOOLS = ['dev', 'test', 'bench'];
const PRODUCT = Object.keys(MAY_IMPORT);
const SOURCES = [...PRODUCT, ...TOOLS];

/** Folders that run inside the workflow sandbox or at the root of everything, with their packages. */
const PURE_PACKAGES = ['zod', 'libphonenumber-js', 'lossless-json', 'temporal-polyfill'];
const MAY_REQUIRE = {
  domain: PURE_PACKAGES,
  workflows: [...PURE_PACKAGES, '@temporalio/workflow', '@temporalio/common'],
  config: ['zod', 'pino', '@temporalio/common', '@temporalio/envconfig'],
};

const borders = Object.entries(MAY_IMPORT).map(([folder, allowed]) => ({
  name: `border-of-${folder}`,
  severity: 'error',
  comment: `${folder}/ may import ${allowed.join(', ') || 'only itself'}`,
  from: { path: `^${folder}/` },
  to: {
    path: `^(${SOURCES.join('|')})/`,
    pathNot: [folder + '/', ...allowed].map((path) => `^${path}`),
  },
}));

const packages = Object.entries(MAY_REQUIRE).map(([folder, allowed]) => ({
  name: `packages-of-${folder}`,
  severity: 'error',
  comment: `${folder}/ may use the packages ${allowed.join(', ')}`,
  from: { path: `^${folder}/` },
  to: {
    path: 'node_modules/',
    pathNot: allowed.map((name) => `node_modules/${name}/`),
  },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...borders,
    ...packages,
    {
      name: 'no-built-ins-in-the-sandbox',
      severity: 'error',
      from: { path: '^(domain|workflows)/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'no-circle',
      severity: 'error',
      comment: 'Two files that need each other are one file, or hide a third.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-development-package-in-the-product',
      severity: 'error',
      from: { path: `^(${PRODUCT.filter((folder) => folder !== 'web').join('|')})/` },
      to: { dependencyTypes: ['npm-dev'], pathNot: 'node_modules/@types/' },
    },
    {
      name: 'no-undeclared-package',
      severity: 'error',
      from: { path: `^(${PRODUCT.join('|')})/`, pathNot: '^web/vite\\.config\\.ts$' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'nothing-unresolved',
      severity: 'error',
      // Style sheets and pictures are vite's to resolve.
      from: { pathNot: '^web/' },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    includeOnly: `^(${SOURCES.join('|')})/|node_modules/|^[a-z:_]+$|^\\.\\.?/`,
    exclude: { path: ['^web/(dist|node_modules)/', '^dist/', '^web/src/generated/'] },
    doNotFollow: { path: 'node_modules' },
    combinedDependencies: true,
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
