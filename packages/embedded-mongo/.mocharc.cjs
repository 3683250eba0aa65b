/** Mocha adds its `spec` setting to the files on the command line: set only if there are none. */
const filesNamed = process.argv.slice(2).some((argument) => /\.test\.js$/.test(argument));

/** Mocha's settings. With CI=true a test that did not run fails the run. */
module.exports = {
  ...(filesNamed ? {} : { spec: ['dist/test/**/*.test.js'] }),
  'node-option': ['enable-source-maps'],
  timeout: 120_000,
  parallel: true,
  jobs: 5,
  forbidPending: process.env.CI === 'true',
  forbidOnly: process.env.CI === 'true',
};
