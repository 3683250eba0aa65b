import type { Config } from '../../domain/platform/settings/config.js';

/** Time between a process's own deadline and pm2's SIGKILL, ms: enough to log that it was missed. */
const LATER_MS = 2_000;

/** How long pm2 waits for a process that it stops, ms. */
export const killTimeout = ({ SHUTDOWN_TIMEOUT_MS }: Pick<Config, 'SHUTDOWN_TIMEOUT_MS'>): number =>
  SHUTDOWN_TIMEOUT_MS + LATER_MS;
