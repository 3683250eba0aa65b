import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** A span, as far as tests look at it. */
export interface Recorded {
  traceId: string;
  spanId: string;
  /** Empty for the first span of a trace. */
  parentSpanId?: string;
  name: string;
  /** `service.name` and `process.pid`. */
  service: string;
  pid: number;
}

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: number };
}

/** A request of an exporter. (OTLP 1.x, ExportTraceServiceRequest in JSON) */
interface Export {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: { spans: Omit<Recorded, 'service' | 'pid'>[] }[];
  }[];
}

function spansOf({ resourceSpans }: Export): Recorded[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const value = (name: string) => resource.attributes.find(({ key }) => key === name)?.value;
    const of = {
      service: value('service.name')?.stringValue ?? '',
      pid: Number(value('process.pid')?.intValue),
    };
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...span, ...of })));
  });
}

/** Starts a receiver of OpenTelemetry on loopback, which keeps every span. */
export async function startTraceReceiver() {
  const spans: Recorded[] = [];
  const server = createServer(async (req, res) => {
    spans.push(...spansOf((await json(req)) as Export));
    res.setHeader('Content-Type', 'application/json').end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    spans,
    close(): void {
      server.close();
      server.closeAllConnections();
    },
  };
}
