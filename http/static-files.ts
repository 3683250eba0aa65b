import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { ParameterizedContext } from 'koa';

/** A file held in memory: there are few, and they are small. */
export interface StaticFile {
  body: Buffer;
  contentType: string;
  etag: string;
}

const CONTENT_TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json;charset=UTF-8',
  '.svg': 'image/svg+xml',
  '.ts': 'text/plain; charset=utf-8',
};

/** @param name its extension decides the content type */
export function staticFile(name: string, body: Buffer): StaticFile {
  const contentType = CONTENT_TYPES[extname(name)];
  if (!contentType) throw new Error(`no content type for ${name}`);
  const etag = createHash('sha256').update(body).digest('base64url').slice(0, 27);
  return { body, contentType, etag };
}

/** @throws Error if it cannot be read: a service without its files must not start */
export function readStaticFile(path: string): StaticFile {
  return staticFile(path, readFileSync(path));
}

/** Answers with the file, or with 304 if the client has it already. */
export function sendStaticFile(ctx: ParameterizedContext, { body, contentType, etag }: StaticFile): void {
  ctx.status = 200;
  ctx.set('Content-Type', contentType);
  // Cached, but revalidated each time, so that a new version shows at once.
  ctx.set('Cache-Control', 'no-cache');
  ctx.etag = etag;
  if (ctx.fresh) ctx.status = 304;
  else ctx.body = body;
}

/**
 * A Content-Security-Policy that lets a page load its own files only.
 * @param connect further addresses that its scripts may connect to
 */
export function pagePolicy(connect: string[] = []): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src ${["'self'", ...connect].join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
