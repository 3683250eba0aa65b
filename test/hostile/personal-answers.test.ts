import { expect } from 'chai';
import { anyone, call, type Member, member } from '../support/api.js';
import { push } from '../support/chat.js';
import { type ServedHttp, serveHttp } from '../support/http-server.js';
import { rawRequest } from '../support/raw-connection.js';

const cachingOf = ({ headers }: { headers: Headers }) => headers.get('cache-control');

describe('answers to one caller', () => {
  let me: Member;

  before(async () => {
    me = await member();
  });

  it('may not be stored by any cache, errors and calls identified by a cookie included', async () => {
    for (const path of ['/chatroom', '/notification/all', '/community/list/recent', '/community/comment/1'])
      expect(cachingOf(await me.get(path)), path).to.equal('no-store');
    expect(cachingOf(await me.get('/chatroom/999999999')), 'an error').to.equal('no-store');
    expect(cachingOf(await me.post('/community/heart', {})), 'a mutation').to.equal('no-store');
    expect(cachingOf(await call('/chatroom')), 'without a token').to.equal('no-store');
    expect(cachingOf(await anyone.post('/chatroom/notification', push(1, 1, 'hello')))).to.equal('no-store');
    expect(cachingOf(await anyone.post('/chatroom/1?email=a@example.org', {}))).to.equal('no-store');
  });

  it('are told from those that are the same for everybody', async () => {
    for (const path of ['/community/list/recent', '/adopt/render'])
      expect(cachingOf(await anyone.get(path)), path).to.equal(null);
  });
});

describe('the tokens of the demo page', () => {
  const served: ServedHttp[] = [];
  afterEach(() => Promise.all(served.splice(0).map(({ server }) => server.drain())));

  async function ask(base: string, host: string, ...headers: string[]): Promise<string> {
    const lines = ['GET /demo/tokens HTTP/1.1', `Host: ${host}`, 'Connection: close', ...headers, '', ''];
    return (await rawRequest(base, lines.join('\r\n'))).slice(0, 12);
  }

  it('are not for a page whose host name was made to resolve to this machine', async () => {
    // Its requests have the service's own origin: to the browser it is the same host.
    const demo = await serveHttp({ DEMO: true });
    served.push(demo);
    const { base, port } = demo;
    for (const host of [
      `evil.example:${port}`,
      'evil.example',
      `localhost.evil.example:${port}`,
      `127.0.0.1.evil.example:${port}`,
      '',
    ]) {
      expect(await ask(base, host), host).to.equal('HTTP/1.1 403');
      expect(await ask(base, host, `Origin: http://${host}`), host).to.equal('HTTP/1.1 403');
      expect(await ask(base, host, `X-Forwarded-Host: localhost:${port}`), host).to.equal('HTTP/1.1 403');
    }
    expect(await ask(base, `evil.example@localhost:${port}`), 'no host').to.equal('HTTP/1.1 400');
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`])
      expect(await ask(base, host), host).to.equal('HTTP/1.1 200');
  });

  it('are for the host that HOST names', async () => {
    const named = await serveHttp({ DEMO: true, HOST: '127.0.0.2' });
    served.push(named);
    const base = `http://127.0.0.2:${named.port}`;
    expect(await ask(base, `127.0.0.2:${named.port}`)).to.equal('HTTP/1.1 200');
    expect(await ask(base, `127.0.0.3:${named.port}`)).to.equal('HTTP/1.1 403');
    expect(await ask(base, `127x0.0.2:${named.port}`)).to.equal('HTTP/1.1 403');
  });

  it('are for the hosts that CORS_ORIGINS names; * names none', async () => {
    const named = await serveHttp({ DEMO: true, TRUST_PROXY: 1, CORS_ORIGINS: ['http://demo.example:8080'] });
    const any = await serveHttp({ DEMO: true, CORS_ORIGINS: ['*'] });
    served.push(named, any);
    // As the proxy passes on what a program of this machine asks.
    const asked = (host: string, ...headers: string[]) =>
      ask(named.base, host, 'X-Forwarded-For: 127.0.0.1', ...headers);
    expect(await asked('demo.example:8080')).to.equal('HTTP/1.1 200');
    expect(await asked('demo.example:8081')).to.equal('HTTP/1.1 403');
    expect(await asked('evil.example', 'X-Forwarded-Host: localhost')).to.equal('HTTP/1.1 403');
    expect(await ask(any.base, 'demo.example:8080')).to.equal('HTTP/1.1 403');
  });
});
