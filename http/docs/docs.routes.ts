import { join } from 'node:path';
import Router from '@koa/router';
import { projectRoot } from '../../domain/platform/project-root.js';
import type { AppState } from '../context.js';
import type { Route } from '../route.js';
import { pagePolicy, readStaticFile, sendStaticFile, staticFile } from '../static-files.js';
import { buildAsyncApi, type SocketDescription } from './asyncapi.js';
import { buildOpenApi } from './openapi.js';
import { renderPage } from './page/page.js';

/**
 * The documents of everything that is served: /openapi.json, /asyncapi.json, and /docs, which shows
 * both without any other host. (contract, section 1)
 *
 * @throws Error where the documents do not fit what is served
 */
export function createDocsRouter(routes: readonly Route[], sockets: SocketDescription): Router<AppState> {
  const openApi = buildOpenApi(routes);
  const asyncApi = buildAsyncApi(sockets);
  const assets = join(projectRoot(), 'http', 'docs', 'static');
  const files = new Map([
    ['/openapi.json', staticFile('openapi.json', Buffer.from(JSON.stringify(openApi)))],
    ['/asyncapi.json', staticFile('asyncapi.json', Buffer.from(JSON.stringify(asyncApi)))],
    ['/docs', staticFile('docs.html', Buffer.from(renderPage(openApi, asyncApi)))],
    ...['docs.css', 'docs.js', 'icon.svg'].map(
      (name) => [`/docs/${name}`, readStaticFile(join(assets, name))] as const,
    ),
  ]);

  const router = new Router<AppState>();
  for (const [path, file] of files) {
    router.get(path, (ctx) => {
      ctx.state.route = path;
      if (path === '/docs') ctx.set('Content-Security-Policy', pagePolicy());
      ctx.set('Referrer-Policy', 'no-referrer');
      sendStaticFile(ctx, file);
    });
  }
  return router;
}
