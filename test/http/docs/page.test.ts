import { get } from 'node:http';
import { expect } from 'chai';
import { html, prose } from '../../../http/docs/page/html.js';
import { call } from '../../support/api.js';
import { asyncApi, openApi, page } from '../../support/api-documents.js';
import { service } from '../../support/service.js';

describe('the documents over HTTP', () => {
  it('are JSON, readable by pages of other origins', async () => {
    for (const path of ['/openapi.json', '/asyncapi.json']) {
      const answer = await call(path, { headers: { Origin: 'http://localhost:3000' } });
      expect(answer.status).to.equal(200);
      expect(answer.headers.get('content-type')).to.equal('application/json;charset=UTF-8');
      expect(answer.headers.get('access-control-allow-origin')).to.equal('http://localhost:3000');
      expect(answer.body).to.be.an('object');
    }
  });

  it('name the gateway’s actual port', async () => {
    const { body } = await call<{ servers: { gateway: { variables: { port: { default: string } } } } }>(
      '/asyncapi.json',
    );
    expect(Number(body.servers.gateway.variables.port.default)).to.be.greaterThan(0);
  });

  it('have a page that may load its own files only', async () => {
    const answer = await call('/docs');
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('content-type')).to.equal('text/html; charset=utf-8');
    const policy = answer.headers.get('content-security-policy');
    expect(policy).to.include("default-src 'none'").and.to.include("script-src 'self'");
    expect(policy).to.not.match(/unsafe|https?:|\*/);
    expect(answer.headers.get('x-content-type-options')).to.equal('nosniff');
    expect(answer.headers.get('referrer-policy')).to.equal('no-referrer');
    const files = [...answer.text.matchAll(/(?:src|href)="(\/docs\/[^"]+)"/g)].map(
      ([, path]) => path as string,
    );
    expect(files).to.include.members(['/docs/docs.css', '/docs/docs.js', '/docs/icon.svg']);
    for (const path of files) expect((await call(path)).status, path).to.equal(200);
  });

  it('are not sent again to a client that has them', async () => {
    const etag = (await call('/docs')).headers.get('etag') ?? '';
    const { http } = await service();
    // fetch would bypass caches if this header were set.
    const again = await new Promise<number | undefined>((resolve, reject) => {
      get(`${http}/docs`, { headers: { 'If-None-Match': etag } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      }).on('error', reject);
    });
    expect(again).to.equal(304);
  });

  it('answer 405 to other methods', async () => {
    const answer = await call<{ message: string }>('/docs', { method: 'DELETE' });
    expect(answer.status).to.equal(405);
    expect(answer.body.message).to.equal('METHOD_NOT_ALLOWED');
    expect(answer.headers.get('allow')).to.include('GET');
  });
});

describe('the page of the documents', () => {
  const ids = [...page.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id as string);

  it('shows every call, every event and every schema', () => {
    const calls = Object.values(openApi.paths).flatMap((item) => Object.values(item));
    expect(ids).to.include.members(calls.map(({ operationId }) => operationId));
    const schemas = { ...openApi.components.schemas, ...asyncApi.components.schemas };
    expect(ids).to.include.members(Object.keys(schemas).map((name) => `schema-${name}`));
    for (const { title } of Object.values(asyncApi.operations))
      expect(page).to.include(`<code>${title}</code>`);
  });

  it('has working links and unique ids', () => {
    expect(new Set(ids).size).to.equal(ids.length);
    const targets = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id as string);
    expect(targets).to.not.be.empty;
    expect(ids).to.include.members(targets);
  });

  it('renders all code marked in its texts', () => {
    const texts = page.replace(/<pre[\s\S]*?<\/pre>/g, '');
    expect(texts.match(/.{0,40}`.{0,40}/g)).to.equal(null);
  });

  it('escapes values', () => {
    const hostile = `<script>alert("1" & '2')</script>`;
    const escaped = '&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt;';
    expect(html`<p title="${hostile}">${hostile}</p>`.markup).to.equal(
      `<p title="${escaped}">${escaped}</p>`,
    );
    expect(prose(`\`${hostile}\` **${hostile}**`).markup).to.not.include('<script>');
  });
});
