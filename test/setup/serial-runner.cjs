const { default: TestRunner } = require('jest-runner');

/**
 * Runs its files one after the other, and never beside another tier's: tests that kill processes
 * or measure seconds must not share two cores with others.
 */
module.exports = class SerialRunner extends TestRunner {
  isSerial = true;
};
