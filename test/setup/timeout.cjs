/** jest ignores `testTimeout` of a project, so each tier says it through a global. */
jest.setTimeout(globalThis.TEST_TIMEOUT_MS);
