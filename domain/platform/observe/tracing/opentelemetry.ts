/** Records traces by OpenTelemetry. Loaded only with OTEL_EXPORTER_OTLP_ENDPOINT. (docs/decisions/tracing.md) */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  DiagLogLevel,
  diag,
  SpanKind as Kinds,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Logger } from '../logger.js';

/** Longest time to send what was recorded, repetitions included, ms: a stop waits for the last. */
const SEND_MS = 2_000;

/** Shortest time between two warnings, ms. */
const WARN_EVERY_MS = 60_000;

/** What a span is of: `server` begins a trace, the others belong to one. */
export type SpanKind = 'server' | 'client' | 'producer' | 'consumer' | 'internal';

/** Texts and numbers that a span shows; no personal data. */
export type SpanDetails = Record<string, string | number>;

/** A span that is to be recorded. */
interface Work {
  name: string;
  kind: SpanKind;
  details: SpanDetails;
  /** The trace and span it belongs to, as another process names them; otherwise those of the caller. */
  parent?: string;
}

export type Tracing = ReturnType<typeof createTracing>;

const kinds: Record<SpanKind, Kinds> = {
  server: Kinds.SERVER,
  client: Kinds.CLIENT,
  producer: Kinds.PRODUCER,
  consumer: Kinds.CONSUMER,
  internal: Kinds.INTERNAL,
};

function spanOf(header: string): SpanContext {
  const [, traceId = '', spanId = '', flags = ''] = header.split('-');
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}

function fail(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR, message: (error as Error | undefined)?.name ?? 'error' });
}

/** Warns that traces are not sent: the exporter itself is silent. */
function reportFaults(logger: Logger): void {
  let warnedAt = Number.NEGATIVE_INFINITY;
  const error = (fault: string) => {
    if (performance.now() - warnedAt < WARN_EVERY_MS) return;
    warnedAt = performance.now();
    // An error comes as JSON, with its stack.
    const [, reason = fault] = /"message":"([^"]*)"/.exec(fault) ?? [];
    logger.warn({ reason: reason.slice(0, 300) }, 'traces could not be sent');
  };
  const ignore = () => {};
  diag.setLogger({ error, warn: ignore, info: ignore, debug: ignore, verbose: ignore }, DiagLogLevel.ERROR);
}

/**
 * @param service name of this kind of process
 * @param endpoint base address of an OTLP receiver over HTTP
 * @param share of the traces that are recorded, 0 to 1
 */
export function createTracing(service: string, endpoint: string, share: number, logger: Logger) {
  reportFaults(logger);
  const current = new AsyncLocalStorage<SpanContext>();
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
    timeoutMillis: SEND_MS,
  });
  const provider = new TracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({ 'service.name': `adoption-${service}`, 'process.pid': process.pid }),
    ),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(share) }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer('adoption-realtime');

  function span<T>({ name, kind, details, parent }: Work, task: () => T, within = current.getStore()): T {
    const above = parent ? spanOf(parent) : within;
    const one = tracer.startSpan(
      name,
      { kind: kinds[kind], attributes: details },
      above && kind !== 'server' ? trace.setSpanContext(ROOT_CONTEXT, above) : ROOT_CONTEXT,
    );
    try {
      const result = current.run(one.spanContext(), task);
      if (!(result instanceof Promise)) {
        one.end();
        return result;
      }
      result.then(
        () => one.end(),
        (error) => {
          fail(one, error);
          one.end();
        },
      );
      return result;
    } catch (error) {
      fail(one, error);
      one.end();
      throw error;
    }
  }

  return {
    span,
    later(work: Work, task: () => void): () => void {
      const within = current.getStore();
      return () => span(work, task, within);
    },
    isActive: () => current.getStore() !== undefined,
    /** The current span, for other processes; without one, nothing. */
    header(): string {
      const span = current.getStore();
      if (!span) return '';
      return `00-${span.traceId}-${span.spanId}-${span.traceFlags.toString(16).padStart(2, '0')}`;
    },
    /** Sends what is recorded. */
    end: () => provider.shutdown(),
  };
}
