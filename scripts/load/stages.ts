import type { MessageStage } from '../../domain/platform/observe/message-stages.js';
import { HOST } from './installation.js';

/** Where the time of the service's messages went: how many took at most so long, by `stage le`, and seconds by `stage`. */
export type StageCounts = Record<string, number>;

/** A stage of a message, times in ms. */
export interface StageFigures {
  stage: MessageStage;
  messages: number;
  /** Of the time of all stages, %. */
  share: number;
  mean: number;
  p50: number;
  p99: number;
  /** How many messages took at most how long. */
  buckets: [ms: number, messages: number][];
}

const STAGES: MessageStage[] = ['receive', 'queue', 'insert', 'publish', 'sequence', 'write'];

const LINE = /^adoption_chat_message_stage_duration_seconds_(bucket|sum)\{(.*)\} (\S+)$/gm;

/** Reads the histograms of a process that runs with MESSAGE_STAGES=on. @param port of its operators' calls */
export async function readStages(port: number): Promise<StageCounts> {
  const text = await (await fetch(`http://${HOST}:${port}/metrics`)).text();
  const counts: StageCounts = {};
  for (const [, kind, labels = '', value] of text.matchAll(LINE)) {
    const label = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(labels)?.[1] ?? '';
    counts[kind === 'sum' ? label('stage') : `${label('stage')} ${label('le')}`] = Number(value);
  }
  return counts;
}

/** What was counted between two readings. */
export function stagesBetween(before: StageCounts, after: StageCounts): StageCounts {
  return Object.fromEntries(Object.entries(after).map(([key, count]) => [key, count - (before[key] ?? 0)]));
}

/** The same over several turns. */
export function addStages(turns: StageCounts[]): StageCounts {
  const all: StageCounts = {};
  for (const [key, count] of turns.flatMap((turn) => Object.entries(turn)))
    all[key] = (all[key] ?? 0) + count;
  return all;
}

/** A quantile as Prometheus computes it: evenly spread within its bucket. */
function quantile(buckets: [ms: number, messages: number][], share: number): number {
  const wanted = (buckets.at(-1)?.[1] ?? 0) * share;
  const i = buckets.findIndex(([, messages]) => messages >= wanted);
  const [from, below] = buckets[i - 1] ?? [0, 0];
  const [to, messages] = buckets[i] ?? [0, 0];
  if (!Number.isFinite(to)) return from;
  return messages === below ? to : from + (to - from) * ((wanted - below) / (messages - below));
}

/** The figures of each stage that was measured, in their order. */
export function stageFigures(counts: StageCounts): StageFigures[] {
  const total = STAGES.reduce((sum, stage) => sum + (counts[stage] ?? 0), 0);
  return STAGES.flatMap((stage): StageFigures[] => {
    const buckets = Object.entries(counts)
      .filter(([key]) => key.startsWith(`${stage} `))
      .map(([key, count]): [number, number] => {
        const le = key.slice(stage.length + 1);
        return [le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le) * 1_000, count];
      })
      .sort(([a], [b]) => a - b);
    const messages = buckets.at(-1)?.[1] ?? 0;
    const seconds = counts[stage] ?? 0;
    if (messages === 0) return [];
    const times = {
      mean: (seconds / messages) * 1_000,
      p50: quantile(buckets, 0.5),
      p99: quantile(buckets, 0.99),
    };
    return [{ stage, messages, share: (seconds / total) * 100, ...times, buckets: buckets.slice(0, -1) }];
  });
}
