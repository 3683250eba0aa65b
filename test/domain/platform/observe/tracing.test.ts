import { createRequire } from 'node:module';
import { expect } from 'chai';
import { createLogger } from '../../../../domain/platform/observe/logger.js';
import { inTraceOf, startTracing, traced, withTrace } from '../../../../domain/platform/observe/tracing.js';
import { loadConfig } from '../../../../domain/platform/settings/config.js';
import { service } from '../../../support/service.js';

/** The packages of OpenTelemetry that this process has loaded. */
function loaded(): string[] {
  const paths = Object.keys(createRequire(import.meta.url).cache);
  return [...new Set(paths.flatMap((path) => /@opentelemetry\/([\w-]+)/.exec(path)?.[1] ?? []))];
}

describe('tracing that is off', () => {
  it('loads nothing of OpenTelemetry but what the metrics’ library requires', async () => {
    await service();
    await startTracing('service', loadConfig({ NODE_ENV: 'test' }), createLogger('silent', 'test'));
    expect(loaded()).to.deep.equal(['api']);
    // What it would load.
    await import('../../../../domain/platform/observe/tracing/opentelemetry.js');
    expect(loaded()).to.include.members(['sdk-trace', 'exporter-trace-otlp-http']);
  });

  it('runs tasks and publishes texts as they are', () => {
    expect(traced('a task', {}, () => withTrace('[1]'))).to.equal('[1]');
  });

  it('understands what processes publish that record traces, and leaves all else alone', () => {
    const header = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const read = (text: string) => inTraceOf(text, 'receive', (rest) => rest);
    expect(read(`${header}["message",{}]`)).to.equal('["message",{}]');
    expect(read('{"n":1}')).to.equal('{"n":1}');
    expect(read(`${header.toUpperCase()}{}`)).to.equal(`${header.toUpperCase()}{}`);
  });
});
