/** A limit in a document: its constant, its format, and the phrases that state it, with # in its place. */
export type Stated = [
  constant: string,
  written: (value: number) => string,
  ...places: [path: string, phrase: string][],
];

export const count = (value: number) => String(value);
export const spelt = (value: number) => value.toLocaleString('en-US');
export const kib = (bytes: number) => `${bytes / 1024} KiB`;
export const mib = (bytes: number) => `${bytes / 1024 ** 2} MiB`;
export const s = (ms: number) => `${ms / 1_000} s`;
export const ms = (value: number) => `${value} ms`;
export const min = (value: number) => `${value / 60_000} min`;
/** A number that a text spells out or paraphrases. */
export const words = (known: number, text: string) => (value: number) =>
  value === known ? text : `${value} and not ${text}`;

export const protocol = 'gateway/PROTOCOL.md';
export const operations = 'docs/operations.md';
export const runbook = 'docs/runbook.md';
export const metricsPage = 'docs/metrics.md';
export const openApi = 'docs/api/openapi.json';
export const asyncApi = 'docs/api/asyncapi.json';
export const legacy = 'docs/legacy-app.md';
export const contract = 'docs/contract.md';
export const decisions = (name: string) => `docs/decisions/${name}.md`;
