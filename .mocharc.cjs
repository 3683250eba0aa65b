/** Mocha's settings. With CI=true a test that did not run fails the run: nothing is skipped silently. */
module.exports = {
  spec: ['dist/test/**/*.test.js'],
  require: ['dist/test/support/setup.js'],
  'node-option': ['enable-source-maps'],
  timeout: 20_000,
  forbidPending: process.env.CI === 'true',
  forbidOnly: process.env.CI === 'true',
};
