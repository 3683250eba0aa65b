import { classicCeiling, type Sizing } from './compute.js';
import type { Inputs } from './inputs.js';

/** 1234567 as `1,234,567`; small ones with what matters of their decimals. */
function number(value: number): string {
  if (value >= 100 || Number.isInteger(value)) return Math.round(value).toLocaleString('en-US');
  return Number(value.toPrecision(2)).toString();
}

function table(head: string[], rows: string[][], align = '---'): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, i) => (i === 0 ? '---' : align))), ...rows.map(line)].join('\n');
}

function sizings(all: Sizing[]): string {
  const row = (name: string, cell: (one: Sizing) => string) => [name, ...all.map(cell)];
  return table(
    ['connected members', ...all.map(({ members }) => number(members))],
    [
      row('messages / s', (s) => number(s.messagesPerSecond)),
      row('notifications / s', (s) => number(s.notificationsPerSecond)),
      row('REST reads / s', (s) => number(s.readsPerSecond)),
      row('gateways (decided by)', (s) => `${number(s.gateways)} (${s.gatewayReason})`),
      row('http processes (decided by)', (s) => `${number(s.httpProcesses)} (${s.httpReason})`),
      row('memory of all processes, GiB', (s) => number(s.memoryGiB)),
      row('machines', (s) => number(s.machines)),
      row('classic adapter: share of each gateway’s core', (s) => `${number(s.classicWaste * 100)} %`),
      row('classic adapter: Redis deliveries / s', (s) => number(s.classicRedisPerSecond)),
      row('adapter', (s) => s.adapter),
      row('Redis nodes, each with a replica', (s) => number(s.redisNodes)),
      row('MongoDB writes / s', (s) => number(s.mongoWritesPerSecond)),
      row('MongoDB reads / s', (s) => number(s.mongoReadsPerSecond)),
      row('– of these, heads of open rooms', (s) => number(s.headReadsPerSecond)),
      row('index keys read by notification tails / s', (s) => number(s.tailKeysPerSecond)),
      row('MongoDB shards, three members each', (s) => number(s.mongoShards)),
      row('messages stored a day, GiB', (s) => number(s.messagesGiBPerDay)),
      row('cores for a second, one gateway’s sockets come back', (s) => number(s.stormCores)),
    ],
    '---:',
  );
}

/** The whole computation as Markdown: what it starts from, and what follows. */
export function formatReport(inputs: Inputs, all: Sizing[]): string {
  const rows = Object.entries(inputs).map(([name, { value, unit, kind, source }]) => [
    `\`${name}\``,
    `${number(value)} ${unit}`.trim(),
    kind,
    source,
  ]);
  return [
    table(['figure', 'value', 'kind', 'source'], rows),
    '',
    sizings(all),
    '',
    `Classic pub/sub costs each gateway 20 % of a core from ${number(classicCeiling(inputs))} messages a second on.`,
    '',
  ].join('\n');
}
