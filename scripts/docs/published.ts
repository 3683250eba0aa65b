import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Domain } from '../../domain/domain.js';
import { projectRoot } from '../../domain/platform/process/project-root.js';
import { pushes, requests } from '../../gateway/protocol.js';
import { buildDocuments } from '../../http/docs/docs.routes.js';
import { eventTypes } from '../../http/docs/event-types.js';
import { documentedRoutes } from '../../http/router.js';
import type { StreamHub } from '../../http/sse/stream-hub.js';
import { LIMITS_HEAD, limitRows } from './limits-table.js';
import { metricsPage } from './metrics-page.js';

/** The ports in the published documents; a running service's documents name its own. */
export const PUBLISHED_PORTS = { rest: 8080, gateway: 8081 };

/** Longest line of JSON, characters. */
const WIDTH = 110;

/** JSON with each value on one line if it fits, so that diffs are short. */
function layOut(value: unknown, indent = '', label = ''): string {
  const flat = label + JSON.stringify(value);
  if (typeof value !== 'object' || value === null || indent.length + flat.length <= WIDTH) return flat;
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const parts = Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .map(([name, one]) => inner + layOut(one, inner, isList ? '' : `${JSON.stringify(name)}: `));
  return `${label}${isList ? '[' : '{'}\n${parts.join(',\n')}\n${indent}${isList ? ']' : '}'}`;
}

/** Markup with each row, entry and section on a separate line. */
export function breakUp(markup: string): string {
  return markup.replace(/\s*(<(?:article|details|div|h\d|li|p|section|tr)\b)/g, '\n$1');
}

/** A page with other rows in the table under this head. @throws Error if the page has no such table */
function withRows(path: string, head: string, rows: string): string {
  const page = readFileSync(join(projectRoot(), path), 'utf8');
  const [before, behind] = page.split(`${head}\n`);
  const [rule] = /^.*\n/.exec(behind ?? '') ?? [];
  const end = behind?.indexOf('\n\n') ?? -1;
  if (!rule || end < 0) throw new Error(`${path} has no table ${head}`);
  return `${before}${head}\n${rule}${rows}${behind?.slice(end)}`;
}

/** The published documents by path: what a service with default ports serves, and the tables of metrics and limits. */
export function publishedDocuments(): Record<string, string> {
  // Only the routes' definitions are used; their handlers are never called.
  const routes = documentedRoutes({} as Domain, {} as StreamHub);
  const { openApi, asyncApi, page } = buildDocuments(
    routes,
    { port: PUBLISHED_PORTS.gateway, requests, pushes },
    PUBLISHED_PORTS.rest,
  );
  return {
    'docs/api/openapi.json': `${layOut(openApi)}\n`,
    'docs/api/asyncapi.json': `${layOut(asyncApi)}\n`,
    'docs/api/socket-events.d.ts': eventTypes(asyncApi),
    'docs/api/docs.html': breakUp(page),
    'docs/metrics.md': metricsPage(),
    'docs/operations.md': withRows('docs/operations.md', LIMITS_HEAD, limitRows()),
  };
}
