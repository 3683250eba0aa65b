import { join } from 'node:path';
import Router from '@koa/router';
import { projectRoot } from '../../domain/platform/process/project-root.js';
import type { AppState } from '../context.js';
import { toJson } from '../respond.js';
import type { Route } from '../route.js';
import { pagePolicy, readStaticFile, type StaticFile, sendStaticFile, staticFile } from '../static-files.js';
import { buildAsyncApi, type SocketDescription } from './asyncapi.js';
import type { AsyncApiDocument, OpenApiDocument } from './documents.js';
import { eventTypes } from './event-types.js';
import { buildOpenApi } from './openapi.js';
import { renderPage } from './page/page.js';

/** Both API documents, and the page that shows them. */
export function buildDocuments(
  routes: readonly Route[],
  sockets: SocketDescription,
  restPort: number,
): { openApi: OpenApiDocument; asyncApi: AsyncApiDocument; page: string } {
  const openApi = buildOpenApi(routes);
  const asyncApi = buildAsyncApi(sockets, openApi, restPort);
  return { openApi, asyncApi, page: renderPage(openApi, asyncApi, routes) };
}

/**
 * The documents of everything that is served: /openapi.json, /asyncapi.json, and /docs, which shows both and
 * loads nothing from other hosts. They are built at the first request for one, which takes tens of ms.
 * (contract, section 1)
 */
export function createDocsRouter(routes: readonly Route[], sockets: SocketDescription): Router<AppState> {
  const assets = join(projectRoot(), 'http', 'docs', 'static');
  const files = new Map<string, StaticFile>(
    ['docs.css', 'docs.js', 'icon.svg'].map((name) => [`/docs/${name}`, readStaticFile(join(assets, name))]),
  );
  // Asked for by browsers, whatever they show.
  files.set('/favicon.ico', readStaticFile(join(assets, 'icon.svg')));

  function fileAt(path: string, port: number): StaticFile {
    if (!files.has(path)) {
      const { openApi, asyncApi, page } = buildDocuments(routes, sockets, port);
      files.set('/openapi.json', staticFile('openapi.json', Buffer.from(toJson(openApi))));
      files.set('/asyncapi.json', staticFile('asyncapi.json', Buffer.from(toJson(asyncApi))));
      files.set('/socket-events.d.ts', staticFile('socket-events.d.ts', Buffer.from(eventTypes(asyncApi))));
      files.set('/docs', staticFile('docs.html', Buffer.from(page)));
    }
    return files.get(path) as StaticFile;
  }

  const router = new Router<AppState>();
  for (const path of ['/openapi.json', '/asyncapi.json', '/socket-events.d.ts', '/docs', ...files.keys()]) {
    router.get(path, (ctx) => {
      ctx.state.route = path;
      if (path === '/docs') ctx.set('Content-Security-Policy', pagePolicy());
      ctx.set('Referrer-Policy', 'no-referrer');
      // The port that was bound: HTTP_PORT may be 0.
      sendStaticFile(ctx, fileAt(path, ctx.req.socket.localPort ?? 0));
    });
  }
  router.get('/', (ctx) => {
    ctx.state.route = '/';
    ctx.redirect('/docs');
  });
  return router;
}
