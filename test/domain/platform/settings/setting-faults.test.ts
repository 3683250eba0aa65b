import { expect } from 'chai';
import { ConfigError, equalPorts, loadConfig } from '../../../../domain/platform/settings/config.js';

/** Without a `.env`. */
const folder = '/nonexistent';

function faults(env: Record<string, string>): string[] {
  try {
    loadConfig(env, folder);
    return [];
  } catch (error) {
    expect(error).to.be.an.instanceOf(ConfigError);
    return (error as ConfigError).faults;
  }
}

describe('the faults of a configuration', () => {
  it('49: reports what settings require of each other together with wrong values, each setting once', () => {
    const lines = faults({ NODE_ENV: 'production', MONGODB_URI: 'nonsense', LOG_LEVEL: 'loud', DEMO: 'on' });
    expect(lines).to.deep.equal([
      'MONGODB_URI: must look like mongodb://host:27017/database',
      'LOG_LEVEL: must be fatal, error, warn, info, debug, trace or silent',
      'JWT_SECRET: production needs a key: set JWT_SECRET, JWT_PUBLIC_KEY or JWKS_URL',
      'DEMO: must be off in production',
      'CORS_ORIGINS: production needs the list of allowed origins (or * for all)',
    ]);
  });

  it('refuses a drain window that leaves several processes less than 4 s to stop', () => {
    const REDIS_URL = 'redis://127.0.0.1:6379';
    const few = { DRAIN_WINDOW_MS: '10000', SHUTDOWN_TIMEOUT_MS: '13999' };
    const line = (least: number) =>
      `SHUTDOWN_TIMEOUT_MS: must be at least ${least}: DRAIN_WINDOW_MS and 4000 more`;
    expect(faults({ REDIS_URL, ...few })).to.deep.equal([line(14_000)]);
    expect(faults({ REDIS_URL, DRAIN_WINDOW_MS: '10000' })).to.deep.equal([line(14_000)]);
    expect(faults({ REDIS_URL, SHUTDOWN_TIMEOUT_MS: '5999' })).to.deep.equal([line(6_000)]);
    expect(faults({ REDIS_URL, ...few, SHUTDOWN_TIMEOUT_MS: '14000' })).to.deep.equal([]);
    expect(faults({ REDIS_URL })).to.deep.equal([]);
    expect(faults(few), 'a single process closes at once').to.deep.equal([]);
  });

  it('49: reports what the caller requires, in the same round', () => {
    const load = () => loadConfig({ HTTP_PORT: '9', GATEWAY_PORT: '9', DEMO: 'x' }, folder, equalPorts);
    expect(load).to.throw(ConfigError, /^DEMO: .+\nGATEWAY_PORT: must not be 9, the HTTP_PORT: .+$/);
    expect(equalPorts(loadConfig({ HTTP_PORT: '0', GATEWAY_PORT: '0' }, folder))).to.deep.equal([]);
  });

  it('49: names the setting that a variable of the environment may be meant for', () => {
    const meant = {
      HTTP_PRT: 'HTTP_PORT',
      GATEWYA_PORT: 'GATEWAY_PORT',
      MONGODB_URL: 'MONGODB_URI',
      redis_url: 'REDIS_URL',
      DATADIR: 'DATA_DIR',
    };
    expect(faults(Object.fromEntries(Object.keys(meant).map((name) => [name, '1'])))).to.deep.equal(
      Object.entries(meant).map(
        ([name, setting]) => `${name}: there is no such setting; did you mean ${setting}?`,
      ),
    );
    // Of other programs.
    const others = [
      'HTTP_PROXY',
      'HOSTNAME',
      'HOSTS',
      'NODE_OPTIONS',
      'NODE_VERSION',
      'XDG_DATA_DIRS',
      'TZ',
      'DEMOS',
    ];
    expect(faults(Object.fromEntries(others.map((name) => [name, '1'])))).to.deep.equal([]);
  });
});
