import type Router from '@koa/router';
import { expect } from 'chai';
import type { Domain } from '../../domain/domain.js';
import { createLogger } from '../../domain/platform/observe/logger.js';
import { loadConfig } from '../../domain/platform/settings/config.js';
import { pushes, requests } from '../../gateway/protocol.js';
import { createApp } from '../../http/app.js';
import type { StreamHub } from '../../http/sse/stream-hub.js';
import { openApi } from '../support/api-documents.js';
import { tableOf, textOf } from './documents.js';

/** The calls of the table in SECURITY.md, as `GET /path`. */
const listed = tableOf(
  'SECURITY.md',
  '| call | `bound` | `open` | `off`, the default in production |',
).flatMap(([calls = '']) => [...calls.matchAll(/`([A-Z]+ \/\S*)`/g)].map(([, call = '']) => call));

/** The documented calls that do not require a token. */
const open = Object.entries(openApi.paths).flatMap(([path, operations]) =>
  Object.entries(operations)
    .filter(([, { security = [] }]) => security.some((way) => Object.keys(way).length === 0))
    .map(([method]) => `${method.toUpperCase()} ${path}`),
);

/** The paths that the app serves beside the documented calls, with every router on. */
function otherPaths(): string[] {
  const config = loadConfig({ DEMO: 'on' }, '/nonexistent');
  // Definitions only: no handler is called.
  const [domain, streams] = [{} as Domain, {} as StreamHub];
  const sockets = { port: 0, requests, pushes };
  const app = createApp(domain, streams, config, createLogger('silent', 'test'), async () => {}, sockets);
  const documented = Object.keys(openApi.paths).map((path) => path.replace(/\{\w+\}/g, ':'));
  return app.middleware
    .flatMap((middleware) => (middleware as { router?: Router }).router?.stack ?? [])
    .map(({ path }) => path as string)
    .filter((path) => !documented.includes(path.replace(/:\w+/g, ':')));
}

describe('the calls without a token in SECURITY.md', () => {
  it('are all documented calls that require none', () => {
    expect(open.length).to.be.greaterThan(3);
    const documented = Object.keys(openApi.paths);
    const rows = listed.filter((call) => documented.includes(call.split(' ')[1] ?? ''));
    expect([...new Set(rows)].sort()).to.deep.equal(open.sort());
  });

  it('include everything else that the HTTP port serves', () => {
    const others = otherPaths();
    expect(others).to.include.members(['/metrics', '/docs/docs.js', '/demo/tokens']);
    const pages = listed.map((call) => call.replace('GET ', ''));
    // A page stands for its files; tokens are no file.
    const isListed = (path: string) =>
      pages.some((page) => path === page || (path !== '/demo/tokens' && path.startsWith(`${page}/`)));
    expect(others.filter((path) => !isListed(path))).to.deep.equal([]);
  });

  it('include the operators’ calls of the gateway, and its sockets', () => {
    const served = [...textOf('gateway/operations.ts').matchAll(/app\.\w+\('([^']+)'/g)].map(
      ([, path]) => path,
    );
    expect(served.filter((path) => path !== '/*' && !listed.includes(`GET ${path}`))).to.deep.equal([]);
    expect(textOf('SECURITY.md')).to.include('| `/socket.io/` |');
  });
});
