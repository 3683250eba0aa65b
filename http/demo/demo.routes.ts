import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import Router from '@koa/router';
import type { Domain } from '../../domain/domain.js';
import type { Client } from '../../domain/kernel/client.js';
import { AppError } from '../../domain/kernel/errors.js';
import { literalPattern } from '../../domain/kernel/literal-pattern.js';
import { createOriginPolicy } from '../../domain/kernel/origins.js';
import { projectRoot } from '../../domain/platform/process/project-root.js';
import type { Config } from '../../domain/platform/settings/config.js';
import type { AppState } from '../context.js';
import { NO_STORE, respond } from '../respond.js';
import { pagePolicy, readStaticFile, type StaticFile, sendStaticFile } from '../static-files.js';
import { introduceMembers } from './introduce-members.js';

/** A host name or address that is safe in a policy header. */
const HOST = /^(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])$/;

/** The files of a folder by the path each is served at. */
function filesUnder(folder: string, path: string): [string, StaticFile][] {
  return readdirSync(folder).map((name) => [`${path}/${name}`, readStaticFile(join(folder, name))]);
}

function demoFiles(): Map<string, StaticFile> {
  const folder = join(projectRoot(), 'examples', 'demo');
  // Located by package.json, the only other file that the package exports.
  const socketIo = dirname(createRequire(import.meta.url).resolve('socket.io/package.json'));
  return new Map([
    ['/demo', readStaticFile(join(folder, 'index.html'))],
    ...filesUnder(join(folder, 'static'), '/demo'),
    ...filesUnder(join(folder, 'pets'), '/demo/pets'),
    ...filesUnder(join(folder, 'members'), '/demo/members'),
    ['/demo/socket.io.js', readStaticFile(join(socketIo, 'client-dist', 'socket.io.esm.min.js'))],
  ]);
}

/** The addresses by which programs of one machine reach each other (RFC 1122, 3.2.1.3; RFC 4291, 2.5.3). */
const LOOPBACK = /^(?:(?:::ffff:)?127(?:\.\d{1,3}){3}|::1)$/;

/** Tokens are for this machine, whatever Host another one sends, and whatever a proxy on this one passes on. */
function refuseOtherMachines(remoteAddress: string, { address, proxied }: Client): void {
  if (proxied || !LOOPBACK.test(remoteAddress) || !LOOPBACK.test(address))
    throw new AppError(
      'FORBIDDEN',
      'only programs of the service’s own machine may ask for this, without a proxy',
    );
}

/**
 * Tokens are for the demo page of this service only, under a name of this machine or one that HOST or CORS_ORIGINS
 * names: to a browser, a page of any name that resolves to this address has the service's own origin (DNS
 * rebinding).
 */
function createPageCheck({ HOST: host, CORS_ORIGINS = [] }: Config): (origin: string, own: string) => void {
  const isLocal = createOriginPolicy(undefined);
  const ofHost = new RegExp(
    `^https?://${literalPattern(host.includes(':') ? `[${host}]` : host)}(:\\d{1,5})?$`,
  );
  const isNamed = createOriginPolicy(CORS_ORIGINS.filter((origin) => origin !== '*'));
  return (origin, own) => {
    if ((origin && origin !== own) || !(isLocal(own) || ofHost.test(own) || isNamed(own)))
      throw new AppError('ORIGIN_NOT_ALLOWED', 'only the demo page may ask for this');
  };
}

/**
 * The demo page, for sample members: only if DEMO is on and this service signs its own tokens.
 * @param gatewayPort where the page's sockets connect
 */
export function createDemoRouter(domain: Domain, config: Config, gatewayPort: number): Router<AppState> {
  const router = new Router<AppState>();
  if (!config.DEMO || config.JWT_PUBLIC_KEY || config.JWKS_URL) return router;

  for (const [path, file] of demoFiles()) {
    router.get(path, (ctx) => {
      ctx.state.route = path;
      if (path === '/demo') {
        const host = HOST.test(ctx.hostname) ? `${ctx.hostname}:${gatewayPort}` : undefined;
        ctx.set('Content-Security-Policy', pagePolicy(host ? [`ws://${host}`, `http://${host}`] : []));
      }
      ctx.set('Referrer-Policy', 'no-referrer');
      sendStaticFile(ctx, file);
    });
  }

  router.get('/', (ctx) => {
    ctx.state.route = '/';
    ctx.redirect('/demo');
  });

  const refuseOtherPages = createPageCheck(config);
  router.get('/demo/tokens', async (ctx) => {
    ctx.state.route = '/demo/tokens';
    refuseOtherMachines(ctx.req.socket.remoteAddress ?? '', ctx.state.client);
    // Not ctx.host: behind a proxy that is X-Forwarded-Host, which a page may send.
    refuseOtherPages(ctx.get('Origin'), `${ctx.protocol}://${ctx.get('Host')}`);
    const members = await introduceMembers(domain, config);
    ctx.set(NO_STORE);
    respond(ctx, { gatewayPort, members });
  });

  return router;
}
