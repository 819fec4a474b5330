/** Without a browser the tests of this tier are counted as skipped, none as passed. */
if (!process.env.UNSILENT_CHROMIUM) {
  globalThis.describe = globalThis.describe.skip;
  globalThis.it = globalThis.it.skip;
  globalThis.test = globalThis.test.skip;
}
