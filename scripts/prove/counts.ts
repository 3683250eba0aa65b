import type { HistoryFile } from './history-file.js';
import type { Served } from './served.js';

/** Counters of what happens rarely, as metrics name them (docs/metrics.md). */
const RARE =
  /^adoption_(chat_messages_total|chat_messages_caught_up_total|chat_gaps_filled_total|chat_conflicts_total|chat_pushes_without_record_total|event_stream_notifications_total|event_streams_closed_total|notifications_polled_total|drift_mended_total|lost_pushes_total|presence_expired_total|redis_publish_failures_total|redis_echoes_missed_total|sockets_closed_total|unexpected_errors_total)\{/;

/** Longest time for the answer of a process that may be stopped or frozen, ms. */
const TIMEOUT_MS = 1_500;

/** A sample line of Prometheus' text format without its label `process`. */
function parse(line: string): [name: string, value: number] {
  const [, name = '', labels = '', value = ''] = /^(\w+)\{(.*)\} (\S+)$/.exec(line) ?? [];
  const others = labels.split(/,(?=\w+=")/).filter((label) => !label.startsWith('process='));
  return [others.length > 0 ? `${name}{${others.join(',')}}` : name, Number(value)];
}

/** The metrics of a process; undefined if they may not be read, or do not come in time. */
export async function metricsOf({ base }: Served, withinMs: number): Promise<string | undefined> {
  try {
    const response = await fetch(`${base}/metrics`, { signal: AbortSignal.timeout(withinMs) });
    return response.ok ? await response.text() : undefined;
  } catch {
    return undefined;
  }
}

/** Writes what a process has counted since its start; if it is gone or frozen, its counts are lost with it. */
export async function recordCounts(history: HistoryFile, served: Served): Promise<void> {
  const text = await metricsOf(served, TIMEOUT_MS);
  if (text === undefined) return;
  const lines = text.split('\n').filter((line) => RARE.test(line));
  history.write({ e: 'counts', process: served.name, counts: Object.fromEntries(lines.map(parse)) });
}
