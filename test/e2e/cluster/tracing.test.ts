import { expect } from 'chai';
import { type Cluster, startCluster } from '../../support/cluster.js';
import { hasRedisServer } from '../../support/redis.js';
import { connect } from '../../support/sockets.js';
import { openStream } from '../../support/streams.js';
import { type Recorded, startTraceReceiver } from '../../support/traces.js';

const suite = hasRedisServer ? describe : describe.skip;

suite('the traces of an http process and two gateways', () => {
  let cluster: Cluster;
  let receiver: Awaited<ReturnType<typeof startTraceReceiver>>;

  before(async () => {
    receiver = await startTraceReceiver();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint };
    cluster = await startCluster({ http: 1, gateways: 2, env });

    const { author, asker, chatNo } = await cluster.openRoom();
    const [first, second] = cluster.gateways;
    const sender = await connect(author, {}, first);
    const recipient = await connect(asker, {}, second);
    await recipient.join(chatNo);
    const seen = recipient.next('message');
    await sender.send(chatNo, 'by socket');
    await seen;

    const absent = await cluster.openRoom();
    const stream = await openStream(absent.asker, { base: cluster.http[0] });
    await stream.next();
    const other = await connect(absent.author, {}, first);
    await other.send(absent.chatNo, 'for later');
    await stream.next(({ data }) => data.includes('for later'));

    // Processes send what they have recorded before they end.
    stream.close();
    for (const client of [sender, recipient, other]) client.socket.close();
    await Promise.all(cluster.processes.map((process) => process.kill('SIGTERM')));
  });
  after(async () => {
    const errors = cluster?.errors();
    await cluster?.stop();
    receiver?.close();
    expect(errors).to.deep.equal([]);
  });

  /** The spans of the trace that a span belongs to. */
  const traceOf = ({ traceId }: Recorded) => receiver.spans.filter((span) => span.traceId === traceId);

  /** The names of a span and those above it, from the first one on. */
  function wayTo(span: Recorded): string[] {
    const parent = receiver.spans.find(({ spanId }) => spanId === span.parentSpanId);
    expect(Boolean(parent), `${span.name} begins a trace, or its parent is known`).to.equal(
      Boolean(span.parentSpanId),
    );
    return [...(parent ? wayTo(parent) : []), span.name];
  }

  function deliveryBy(name: string, service: string): Recorded {
    const found = receiver.spans.find((span) => span.name === name && span.service === service);
    if (!found) throw new Error(`no span ${name} of ${service}`);
    return found;
  }

  it('lead from a send on one gateway over the database and Redis to the delivery by the other', () => {
    const sends = receiver.spans.filter(({ name }) => name === 'socket message:send');
    expect(sends).to.have.length(2);
    const delivered = receiver.spans.filter(
      ({ name, pid }) => name === 'deliver message' && sends.every((send) => send.pid !== pid),
    );
    expect(delivered.map(wayTo)).to.deep.equal([['socket message:send', 'receive', 'deliver message']]);
    const trace = traceOf(delivered[0] as Recorded);
    expect(trace.map(({ name }) => name)).to.include.members(['mongodb insert', 'redis publish']);
    expect(new Set(trace.map(({ pid }) => pid)).size).to.be.at.least(2);
    for (const span of trace) expect(wayTo(span)[0], span.name).to.equal('socket message:send');
  });

  it('lead from a send to the event stream of an absent recipient', () => {
    const delivered = deliveryBy('deliver to a stream', 'adoption-http');
    const way = wayTo(delivered);
    expect([way.at(0), ...way.slice(-2)]).to.deep.equal([
      'socket message:send',
      'receive',
      'deliver to a stream',
    ]);
  });

  it('begin with each REST request, by its route', () => {
    const created = deliveryBy('POST /chatroom', 'adoption-http');
    expect(wayTo(created)).to.deep.equal(['POST /chatroom']);
    expect(traceOf(created).map(({ name }) => name)).to.include('mongodb insert');
  });

  it('leave out what has no caller', () => {
    const firsts = new Set(receiver.spans.filter((span) => !span.parentSpanId).map(({ name }) => name));
    expect([...firsts].filter((name) => !/^(?:socket \S+|(?:GET|POST) \/\S*)$/.test(name))).to.deep.equal([]);
  });
});
