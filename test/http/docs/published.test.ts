import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { projectRoot } from '../../../domain/platform/process/project-root.js';
import { breakUp, PUBLISHED_PORTS, publishedDocuments } from '../../../scripts/docs/published.js';
import { call } from '../../support/api.js';
import { service } from '../../support/service.js';

const kept = (path: string) => readFileSync(join(projectRoot(), path), 'utf8');

const AGAIN = 'differs from the file: if the change is intended, run `npm run docs` and look at the diff';

/** Compares line by line and reports the first difference: a whole document would be unreadable. */
function expectSame(served: string, path: string): void {
  const [is, should] = [served.split('\n'), kept(path).split('\n')];
  const at = should.findIndex((line, i) => line !== is[i]);
  expect(is[at], `${path}, line ${at + 1}, ${AGAIN}`).to.equal(should[at]);
  expect(is.length, `lines of ${path}, ${AGAIN}`).to.equal(should.length);
}

describe('docs/api, docs/metrics.md and the table of limits', () => {
  it('are what the source generates', () => {
    for (const [path, text] of Object.entries(publishedDocuments())) expectSame(text, path);
  });

  it('describe what a service serves, except for its ports', async () => {
    const { gateway, http } = await service();
    const { port } = new URL(gateway);
    expect((await call('/openapi.json')).body).to.deep.equal(JSON.parse(kept('docs/api/openapi.json')));
    const asyncApi = JSON.parse(kept('docs/api/asyncapi.json'));
    asyncApi.servers.gateway.variables.port.default = port;
    asyncApi.servers.rest.variables.port.default = new URL(http).port;
    expect((await call('/asyncapi.json')).body).to.deep.equal(asyncApi);
    const page = (await call('/docs')).text.replace(
      `localhost:${port}`,
      `localhost:${PUBLISHED_PORTS.gateway}`,
    );
    expectSame(breakUp(page), 'docs/api/docs.html');
  });
});
