import { type Config, ConfigError, loadConfig } from '../../domain/platform/settings/config.js';
import { type Check, failure, ok, Skipped, type Verdict, warning } from './check.js';
import { isLoopback } from './loopback.js';

/** Judges whether a proxy stands between the clients and this process, whose own limits are per process. */
export function judgeProxy({ HOST, TRUST_PROXY }: Pick<Config, 'HOST' | 'TRUST_PROXY'>): Verdict {
  if (TRUST_PROXY > 0) return ok(`limits count the addresses that ${TRUST_PROXY} trusted proxies pass on`);
  if (isLoopback(HOST)) return ok(`only this machine reaches ${HOST}`);
  return warning(
    `clients reach ${HOST} directly (TRUST_PROXY=off): nothing bounds them but the limits of this process`,
    'a proxy that limits connections and requests per address (deploy/nginx.conf.template), and TRUST_PROXY=1',
  );
}

/** The configuration. With an invalid one, `config` throws Skipped, so that checks which need it are skipped. */
export function readSettings() {
  const name = 'settings';
  try {
    const config = loadConfig();
    const checks: Check[] = [
      { name, run: () => ok(`valid, for ${config.NODE_ENV}`) },
      { name: 'proxy', run: () => judgeProxy(config) },
    ];
    return { checks, config: () => config };
  } catch (error) {
    const faults = error instanceof ConfigError ? error.faults : [(error as Error).message];
    const remedy = 'docs/reference/settings.md; the environment wins over .env';
    const checks: Check[] = faults.map((fault) => ({ name, run: () => failure(fault, remedy) }));
    const config = (): Config => {
      throw new Skipped('the settings are invalid');
    };
    return { checks, config };
  }
}

/** One setting, for a check that can do without; undefined with an invalid configuration. */
export function settingOf<N extends keyof Config>(config: () => Config, name: N): Config[N] | undefined {
  try {
    return config()[name];
  } catch {
    return undefined;
  }
}
