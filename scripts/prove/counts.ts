import type { HistoryFile } from './history-file.js';
import type { Served } from './served.js';

/** Counters of what happens rarely, as metrics name them (docs/metrics.md). */
const RARE =
  /^adoption_(chat_messages_total|chat_messages_caught_up_total|chat_gaps_filled_total|chat_conflicts_total|chat_pushes_without_record_total|event_stream_notifications_total|event_streams_closed_total|notifications_polled_total|drift_mended_total|redis_publish_failures_total|redis_echoes_missed_total|sockets_closed_total|unexpected_errors_total)\{/;

/** Longest time for the answer of a process that may be stopped or frozen, ms. */
const TIMEOUT_MS = 1_500;

/** A sample line of Prometheus' text format without its label `process`. */
function parse(line: string): [name: string, value: number] {
  const [, name = '', labels = '', value = ''] = /^(\w+)\{(.*)\} (\S+)$/.exec(line) ?? [];
  const others = labels.split(/,(?=\w+=")/).filter((label) => !label.startsWith('process='));
  return [others.length > 0 ? `${name}{${others.join(',')}}` : name, Number(value)];
}

/** Writes what a process has counted since its start, unless it does not answer. */
export async function recordCounts(history: HistoryFile, { name, base }: Served): Promise<void> {
  try {
    const response = await fetch(`${base}/metrics`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (!response.ok) return;
    const lines = (await response.text()).split('\n').filter((line) => RARE.test(line));
    history.write({ e: 'counts', process: name, counts: Object.fromEntries(lines.map(parse)) });
  } catch {
    // Gone, frozen or without an open port: its counts are lost with it.
  }
}
