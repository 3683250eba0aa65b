import { AppError } from '../../kernel/errors.js';
import { exposeMerged } from '../observe/metrics/merged.js';
import { exposeMetrics, mayReadMetrics } from '../observe/metrics.js';
import type { Config } from '../settings/config.js';

/** Type of all answers but the metrics. */
export const JSON_TYPE = 'application/json;charset=UTF-8';

interface Answer {
  type: string;
  body: string;
}

type Call = (authorization: string | undefined) => Promise<Answer>;

const json = (body: unknown): Answer => ({ type: JSON_TYPE, body: `${JSON.stringify(body)}\n` });

/** What the operators' calls depend on. */
export type OperationsConfig = Pick<Config, 'DATA_DIR' | 'METRICS_TOKEN' | 'production'>;

/**
 * The operators' calls by path, whichever port serves them. (contract, section 1)
 * @param probe rejects with the reason why the process cannot serve
 * @param port of clients, where production keeps metrics from strangers, or the process's own
 */
export function createOperations(
  config: OperationsConfig,
  probe: () => Promise<void>,
  port: 'clients' | 'own',
): Map<string, Call> {
  const merged = exposeMerged(config);
  const isClosed = port === 'clients' && config.production && !config.METRICS_TOKEN;
  const guarded =
    (read: () => Promise<string>): Call =>
    async (authorization) => {
      if (isClosed)
        throw new AppError(
          'NOT_FOUND',
          'production shows metrics on METRICS_PORT; set METRICS_TOKEN to read them here, too',
        );
      if (!mayReadMetrics(authorization, config.METRICS_TOKEN))
        throw new AppError('UNAUTHORIZED', 'metrics need the configured METRICS_TOKEN as a Bearer token');
      const { contentType: type } = await exposeMetrics();
      return { type, body: await read() };
    };
  return new Map<string, Call>([
    ['/healthz', async () => json({ up: true })],
    ['/readyz', () => probe().then(() => json({ ready: true }))],
    ['/metrics', guarded(async () => (await exposeMetrics()).text)],
    ['/metrics/cluster', guarded(merged)],
  ]);
}
