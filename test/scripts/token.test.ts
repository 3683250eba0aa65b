import { expect } from 'chai';
import { service } from '../support/service.js';
import { runHere, runScript } from './script-runs.js';

describe('npm run token', () => {
  it('prints only a token, which the service of the same DATA_DIR accepts', async () => {
    const { http, config, domain } = await service();
    const args = ['Token.Test@example.org', '--nickname', '토큰', '--profile', '/p.svg', '--role', 'ADMIN'];
    const { status, stdout, stderr } = await runScript('scripts/token.js', args, {
      DATA_DIR: config.DATA_DIR,
    });
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(stdout).to.match(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    const answer = await fetch(`${http}/notification/all`, { headers: { Authorization: stdout.trim() } });
    expect(answer.status).to.equal(200);
    expect(await domain.members.directory.findByEmail('token.test@example.org')).to.include({
      nickname: '토큰',
      profile: '/p.svg',
    });
    const me = await fetch(`${http}/me`, { headers: { Authorization: stdout.trim() } });
    expect(await me.json()).to.include({ role: 'ADMIN' });
  });

  const wrong: [string, string[], RegExp][] = [
    ['a bad e-mail address', ['nobody'], /^EMAIL: is not an e-mail address\n$/],
    ['a bad role', ['a@example.org', '--role', 'KING'], /^--role: must be USER or ADMIN\n$/],
    ['a bad span', ['a@example.org', '--ttl', 'soon'], /^--ttl: must be a span such as .+\n$/],
    ['a span in the past', ['a@example.org', '--ttl', '1h ago'], /^--ttl: must be a span such as .+\n$/],
    ['no address', [], /^one e-mail address is needed\n\nUsage: /],
    ['an unknown option', ['a@example.org', '--rolle', 'USER'], /^Unknown option '--rolle'\n\nUsage: /],
  ];
  it('refuses each wrong argument with a line on stderr and status 2', async () => {
    const { config } = await service();
    await Promise.all(
      wrong.map(async ([what, args, line]) => {
        const run = await runHere('scripts/token.js', args, { DATA_DIR: config.DATA_DIR });
        expect(run.status, what).to.equal(2);
        expect(run.stdout, what).to.equal('');
        expect(run.stderr, what).to.match(line);
      }),
    );
  });

  it('says so if tokens are signed elsewhere', async () => {
    const { config } = await service();
    const run = await runHere('scripts/token.js', ['a@example.org'], {
      DATA_DIR: config.DATA_DIR,
      JWKS_URL: 'http://127.0.0.1:9/keys',
    });
    expect(run).to.deep.equal({
      status: 1,
      stdout: '',
      stderr: 'JWT_SECRET: only a configured secret can sign; with a public key the issuer signs\n',
    });
  });
});
