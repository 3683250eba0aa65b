import { timingSafeEqual } from 'node:crypto';
import { collectDefaultMetrics, register } from 'prom-client';
import { cachedFor } from '../async/shared-runs.js';
import { chatMetrics } from './metrics/of-chat.js';
import { httpMetrics } from './metrics/of-http.js';
import { processMetrics } from './metrics/of-process.js';
import { socketMetrics } from './metrics/of-sockets.js';
import { storeMetrics } from './metrics/of-stores.js';

export { secondsSince } from './metrics/durations.js';
export { nameEngine, nameProcess } from './metrics/identity.js';
export { showReadiness } from './metrics/of-process.js';

collectDefaultMetrics();

/** The metrics by the headings under which the documents list them. */
export const metricGroups = {
  'Every process': processMetrics,
  'REST and event streams': httpMetrics,
  Sockets: socketMetrics,
  'Chat and notifications': chatMetrics,
  'Database and Redis': storeMetrics,
};

/** The process's metrics. */
export const metrics = {
  ...processMetrics,
  ...httpMetrics,
  ...socketMetrics,
  ...chatMetrics,
  ...storeMetrics,
};

/** The metrics in Prometheus' text format, at most a second old: nothing limits how often they are asked for. */
export const exposeMetrics = cachedFor(1_000, async () => ({
  contentType: register.contentType,
  text: await register.metrics(),
}));

/**
 * @param authorization the header as sent
 * @param token the configured METRICS_TOKEN, if any
 * @returns whether /metrics may be read
 */
export function mayReadMetrics(authorization: string | undefined, token: string | undefined): boolean {
  if (!token) return true;
  const given = Buffer.from(authorization ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
