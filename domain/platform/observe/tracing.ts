import type { Config } from '../settings/config.js';
import type { Logger } from './logger.js';
import type { SpanDetails, SpanKind, Tracing } from './tracing/opentelemetry.js';

type TracingSettings = Pick<Config, 'OTEL_EXPORTER_OTLP_ENDPOINT' | 'OTEL_TRACES_SAMPLER_ARG'>;

/** W3C Trace Context, version 00: version, trace, span, flags. */
const HEADER = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}/;

/** Set while traces are recorded. */
let tracing: Tracing | undefined;

/**
 * With OTEL_EXPORTER_OTLP_ENDPOINT, loads OpenTelemetry and records traces until the end of the stop.
 *
 * @param service name of this kind of process in traces
 * @returns a function that sends what is recorded, and ends it
 * @throws Error naming the setting, if the optional packages are not installed
 */
export async function startTracing(
  service: string,
  config: TracingSettings,
  logger: Logger,
): Promise<() => Promise<void>> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: share } = config;
  if (!endpoint) return async () => {};
  const { createTracing } = await import('./tracing/opentelemetry.js').catch((cause) => {
    throw new Error(
      'OTEL_EXPORTER_OTLP_ENDPOINT: tracing needs optional packages, which npm ci --include=optional installs',
      { cause },
    );
  });
  const started = createTracing(service, endpoint, share, logger);
  tracing = started;
  return async () => {
    tracing = undefined;
    await started.end();
  };
}

/** Runs a task as the first span of a new trace, until its promise is settled. */
export function traced<T>(name: string, details: SpanDetails, task: () => T): T {
  return tracing ? tracing.span({ name, kind: 'server', details }, task) : task();
}

/** Runs a task as a span of the current trace, if there is one, until its promise is settled. */
export function step<T>(kind: SpanKind, name: string, details: SpanDetails, task: () => T): T {
  return tracing?.isActive() ? tracing.span({ name, kind, details }, task) : task();
}

/** The task as a span of the current trace, whenever it runs; without a trace, the task itself. */
export function laterStep(name: string, task: () => void): () => void {
  return tracing?.isActive() ? tracing.later({ name, kind: 'internal', details: {} }, task) : task;
}

/** A text for another process, after the current trace, if there is one. */
export function withTrace(text: string): string {
  return tracing ? tracing.header() + text : text;
}

/**
 * Runs a task with a text of another process, in the trace that precedes it. Processes that do not record traces
 * understand those of others.
 *
 * @param text JSON, which never begins as a trace does
 */
export function inTraceOf<T>(text: string, name: string, task: (text: string) => T): T {
  if (text[0] !== '0') return task(text);
  const [header = ''] = HEADER.exec(text) ?? [];
  const rest = text.slice(header.length);
  if (!tracing || header === '') return task(rest);
  return tracing.span({ name, kind: 'consumer', details: {}, parent: header }, () => task(rest));
}
