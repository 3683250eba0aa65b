import { mock } from 'node:test';
import { stopService, takeScans } from './service.js';
import { closeSockets } from './sockets.js';
import { closeStreams } from './streams.js';
import { takeErrors } from './unexpected-errors.js';

/** Accepted collection scans, each with its reason. */
const JUSTIFIED_SCANS = new Set<string>([
  // docs/operations.md, "Administrators of earlier versions": operators run it once.
  'adoption.members email, role',
]);

const { setTimeout: realSetTimeout, setInterval: realSetInterval } = globalThis;

/** Root hooks: close a test's clients, and fail it where the service logged an unexpected error. */
export const mochaHooks = {
  async afterEach() {
    closeSockets();
    closeStreams();
    const errors = takeErrors();
    if (errors.length > 0)
      throw new Error(`the service logged errors nobody expected:\n${errors.join('\n')}`);
  },
  async afterAll() {
    // The next file may run in the same process; its `reset` would restore mocks of this one.
    mock.reset();
    if (setTimeout !== realSetTimeout || setInterval !== realSetInterval)
      throw new Error('a test of this file has left fake timers behind');
    await stopService();
    const unjustified = takeScans().filter(
      ({ namespace, query }) => !JUSTIFIED_SCANS.has(`${namespace} ${query}`),
    );
    if (unjustified.length > 0) {
      throw new Error(`queries that no index serves: ${JSON.stringify(unjustified, null, 2)}`);
    }
  },
};
