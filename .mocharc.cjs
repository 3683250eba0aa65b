/** Mocha adds its `spec` setting to the files on the command line: set only if there are none. */
const filesNamed = process.argv.slice(2).some((argument) => /\.test\.js$/.test(argument));

/** Folders whose files take longest. They run first: a long one at the end would run alone, on one core. */
const LONG = 'e2e,scripts';

/** Mocha's settings. With CI=true a test that did not run fails the run: nothing is skipped silently. */
module.exports = {
  ...(filesNamed
    ? {}
    : {
        spec: [`dist/test/{${LONG}}/**/*.test.js`, `dist/test/!(${LONG.replaceAll(',', '|')})/**/*.test.js`],
      }),
  require: ['dist/test/support/setup.js'],
  // Young objects: with 64 MiB, as in production, 13 test files took 58 s of CPU time rather than 63 (one run each).
  'node-option': ['enable-source-maps', 'max-semi-space-size=64'],
  // Fails a test that hangs, but not one that is slow on a busy machine.
  timeout: 300_000,
  // Most tests wait for processes and timers rather than compute: more files at a time than cores.
  parallel: true,
  jobs: 5,
  forbidPending: process.env.CI === 'true',
  forbidOnly: process.env.CI === 'true',
};
