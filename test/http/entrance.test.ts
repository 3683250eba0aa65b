import { expect } from 'chai';
import { call, member } from '../support/api.js';
import { service } from '../support/service.js';

describe('what people open first', () => {
  it('/ leads to the documents where there is no demo page', async () => {
    const { http } = await service();
    const answer = await fetch(http, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).to.deep.equal([302, '/docs']);
    const page = await fetch(http);
    expect([page.status, new URL(page.url).pathname]).to.deep.equal([200, '/docs']);
  });

  it('/favicon.ico is a picture', async () => {
    const { status, headers } = await call('/favicon.ico');
    expect([status, headers.get('content-type')]).to.deep.equal([200, 'image/svg+xml']);
  });

  it('/me says who calls', async () => {
    const admin = await member({ nickname: 'Bori', role: 'ADMIN' });
    const answer = await admin.get('/me');
    expect(answer.body).to.deep.equal({ memberNo: admin.no, nickname: 'Bori', role: 'ADMIN' });
    expect(answer.headers.get('cache-control')).to.equal('no-store');
    expect((await call('/me')).body).to.include({ status: 401, message: 'UNAUTHORIZED' });
  });

  it('every JSON answer ends its line, on both ports, and errors do', async () => {
    const { http, gateway } = await service();
    const urls = [
      ...['/healthz', '/nothing', '/openapi.json', '/adopt/render', '/me'].map((path) => http + path),
      ...['/healthz', '/readyz'].map((path) => gateway + path),
    ];
    for (const url of urls) {
      const answer = await fetch(url);
      const text = await answer.text();
      expect(text, url).to.match(/^[^\n]*[\]}]\n$/);
      expect(answer.headers.get('content-length'), url).to.equal(String(Buffer.byteLength(text)));
    }
  });
});
