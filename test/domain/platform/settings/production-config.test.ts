import { expect } from 'chai';
import { SHORTEST_SECRET, useConfigurations } from './configurations.js';

describe('configuration in production', () => {
  const { load, faults } = useConfigurations();

  const production = {
    NODE_ENV: 'production',
    MONGODB_URI: 'mongodb://db:27017/adoption',
    JWT_SECRET: 'x'.repeat(32),
    CORS_ORIGINS: 'https://app.example.org',
  };

  it('needs a key, a database and origins', () => {
    expect(load(production)).to.include({ production: true, DEMO: false, VERIFY_EVERY: 86_400_000 });
  });

  it('accepts pushes without a token only if set', () => {
    expect(load().LEGACY_ANONYMOUS).to.equal('bound');
    expect(load(production).LEGACY_ANONYMOUS).to.equal('off');
    for (const chosen of ['bound', 'off'])
      expect(load({ ...production, LEGACY_ANONYMOUS: chosen }).LEGACY_ANONYMOUS).to.equal(chosen);
  });

  it('49: refuses what development allows, with a line each', () => {
    expect(faults({ NODE_ENV: 'production' }).map((line) => line.split(':')[0])).to.have.members([
      'JWT_SECRET',
      'MONGODB_URI',
      'CORS_ORIGINS',
    ]);
    expect(faults({ ...production, DEMO: 'on' })[0]).to.match(/^DEMO: /);
    const withRedis = { ...production, REDIS_URL: 'redis://redis:6379' };
    expect(faults(withRedis)[0]).to.match(/^REDIS_SIGNING_KEY: /);
    const open = { ...production, LEGACY_ANONYMOUS: 'open' };
    expect(faults(open)[0]).to.match(/^LEGACY_ANONYMOUS: /);
    expect(load({ ...withRedis, REDIS_SIGNING_KEY: SHORTEST_SECRET })).to.include({ production: true });
    expect(load({ ...withRedis, REDIS_URL: 'redis://:word@redis:6379' })).to.include({ production: true });
    const keys = { JWT_PUBLIC_KEY: '-----BEGIN PUBLIC KEY-----', JWKS_URL: 'https://id.example.org/' };
    const issuer = { JWT_ISSUER: 'https://id.example.org/', JWT_AUDIENCE: 'adoption' };
    for (const [name, key] of Object.entries(keys)) {
      expect(load({ ...production, ...issuer, JWT_SECRET: '', [name]: key })).to.include({
        production: true,
      });
    }
    const keySet = { ...production, JWT_SECRET: '', JWKS_URL: 'https://id.example.org/' };
    expect(faults(keySet)).to.deep.equal([
      'JWT_ISSUER: production needs it with JWKS_URL',
      'JWT_AUDIENCE: production needs it with JWKS_URL',
    ]);
    expect(load({ ...open, LEGACY_ANONYMOUS_OPEN_CONFIRMED: 'on' })).to.include({ LEGACY_ANONYMOUS: 'open' });
  });
});
