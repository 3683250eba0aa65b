import type { Community } from './community.js';
import { metricsOf } from './counts.js';
import type { HistoryFile } from './history-file.js';
import type { Served } from './served.js';

/** Longest wait for the metrics of a process that has just become ready, ms. */
const METRICS_MS = 5_000;

/** Version and commit of a process, as its metrics say; `unknown` if they may not be read. */
async function versionOf(served: Served): Promise<string> {
  const text = (await metricsOf(served, METRICS_MS)) ?? '';
  const [, labels = ''] = /^adoption_build_info\{(.*)\} 1$/m.exec(text) ?? [];
  const label = (name: string) => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1];
  return label('version') ? `${label('version')} (${label('commit')})` : 'unknown';
}

/** Writes the first line of a history. @param options as the user chose them, and defaults */
export async function writeHeader(
  history: HistoryFile,
  [served]: Served[],
  { members, rooms, articles, localOffsetMs }: Community,
  seed: number,
  options: Record<string, unknown>,
): Promise<void> {
  const version = served ? await versionOf(served) : 'unknown';
  history.write({
    e: 'header',
    format: 2,
    version,
    node: process.version,
    seed,
    options,
    startedAt: new Date(Date.now() - history.now()).toISOString(),
    localOffsetMs,
    members: members.map(({ no, nickname, email, picture }) => ({ no, nickname, email, picture })),
    rooms: rooms.map(({ author, asker, ...room }) => ({ ...room, creator: author.no, joiner: asker.no })),
    articles: articles.map(({ author, ...article }) => ({ ...article, author: author.no })),
  });
}
