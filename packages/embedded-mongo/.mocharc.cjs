/** With CI=true a test that did not run fails the run. */
module.exports = {
  spec: ['dist/test/**/*.test.js'],
  'node-option': ['enable-source-maps'],
  timeout: 120_000,
  parallel: true,
  jobs: 5,
  forbidPending: process.env.CI === 'true',
  forbidOnly: process.env.CI === 'true',
};
