import { type Config, ConfigError, loadConfig } from '../../domain/platform/config.js';
import { type Check, failure, ok, Skipped } from './check.js';

/** The configuration. With an invalid one, `config` throws Skipped, so that checks which need it are skipped. */
export function readSettings() {
  const name = 'settings';
  try {
    const config = loadConfig();
    const checks: Check[] = [{ name, run: () => ok(`valid, for ${config.NODE_ENV}`) }];
    return { checks, config: () => config };
  } catch (error) {
    const faults = error instanceof ConfigError ? error.faults : [(error as Error).message];
    const remedy = 'README.md, Configuration; the environment wins over .env';
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
