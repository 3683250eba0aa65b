import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Message } from '../../../../domain/chat/message.model.js';
import { Notification } from '../../../../domain/notifications/notification.model.js';
import { nextNumbers } from '../../../../domain/platform/mongo/sequence.model.js';
import { projectRoot } from '../../../../domain/platform/process/project-root.js';
import { openRoom, pushTo } from '../../../support/chat.js';
import { interceptCalls } from '../../../support/database-calls.js';
import { engineName } from '../../../support/engine.js';
import { eventually, gate } from '../../../support/eventually.js';
import { service } from '../../../support/service.js';
import { type Client, closeSockets, connect } from '../../../support/sockets.js';
import { closeStreams, openStream } from '../../../support/streams.js';

/** What a process exposes: each line's value by name and labels. */
type Figures = Map<string, number>;

async function textOf(base: string): Promise<string> {
  return (await fetch(`${base}/metrics`)).text();
}

/** Figures collected after this call: answers are kept for a second. */
async function figuresOf(base: string): Promise<Figures> {
  const kept = await textOf(base);
  const text = await eventually(async () => {
    const next = await textOf(base);
    expect(next === kept, 'the answer is kept').to.equal(false);
    return next;
  });
  return new Map(
    [...text.matchAll(/^(\w+)\{(.*)\} (\S+)$/gm)].map(([, name, labels, value]) => [
      `${name} ${labels}`,
      Number(value),
    ]),
  );
}

/** The sum of the figures of a name with these labels, as in PromQL: `name label="value",…`. */
function sumOf(figures: Figures, series: string): number {
  const [name = '', labels = ''] = series.split(' ');
  return [...figures]
    .filter(([key]) => key.startsWith(`${name} `) && labels.split(',').every((label) => key.includes(label)))
    .reduce((sum, [, value]) => sum + value, 0);
}

/** Expects by how much each series has risen. */
function expectRises(before: Figures, now: Figures, rises: Record<string, number>): void {
  const risen = Object.fromEntries(
    Object.keys(rises).map((series) => [series, sumOf(now, series) - sumOf(before, series)]),
  );
  expect(risen).to.deep.equal(rises);
}

describe('the metrics that a service exposes', () => {
  let base: string;
  before(async () => {
    base = (await service()).http;
  });
  afterEach(() => {
    closeSockets();
    closeStreams();
  });

  it('tell what runs, and how busy it is', async () => {
    const figures = await figuresOf(base);
    const build = [...figures.keys()].find((key) => key.startsWith('adoption_build_info')) ?? '';
    const { version } = JSON.parse(readFileSync(join(projectRoot(), 'package.json'), 'utf8'));
    expect(build).to.include(`version="${version}"`).and.include(`node="${process.version}"`);
    expect(build)
      .to.include(`engine="${await engineName}"`)
      .and.include('process="service"');
    expect(sumOf(figures, 'adoption_event_loop_active_seconds_total')).to.be.above(0);
    expect(sumOf(figures, 'adoption_heap_used_ratio')).to.be.within(0.001, 0.9);
  });

  it('count sockets, members, rooms and messages, and time acknowledgements, fan-out and catching up', async () => {
    const { author, asker, chatNo } = await openRoom();
    const before = await figuresOf(base);
    const one = await connect(asker);
    const two = await connect(author, { transports: ['polling'] });
    await one.join(chatNo);
    await two.join(chatNo);
    await one.send(chatNo, 'first', 'key');
    const { message } = await one.send(chatNo, 'first', 'key');
    await author.post('/chatroom/notification', { ...message, seq: undefined });
    await two.ask('room:leave', { chatNo });
    await one.send(chatNo, 'second');
    await one.send(chatNo, 'third');
    await two.join(chatNo, 1);
    await two.join(chatNo, 2);
    const { asker: stranger } = await openRoom();
    const third = await connect(stranger);
    expect((await third.send(chatNo, 'not here')).status).to.equal(403);
    await third.ask('message:forward', {});
    const during = await figuresOf(base);
    expectRises(before, during, {
      'adoption_sockets_open transport="websocket"': 2,
      'adoption_sockets_open transport="polling"': 1,
      'adoption_sockets_opened_total transport="polling"': 1,
      adoption_socket_members: 3,
      adoption_chat_rooms_followed: 1,
      'adoption_chat_messages_total outcome="stored"': 3,
      'adoption_chat_messages_total outcome="repeated"': 1,
      'adoption_chat_messages_total outcome="posted-back"': 1,
      'adoption_chat_messages_total outcome="refused"': 1,
      'adoption_socket_request_duration_seconds_count event="message:send",status="200"': 4,
      'adoption_socket_request_duration_seconds_count event="message:send",status="403"': 1,
      'adoption_socket_request_duration_seconds_count event="unknown"': 1,
      adoption_chat_fanout_duration_seconds_count: 3,
      'adoption_chat_catch_up_duration_seconds_count kind="open"': 2,
      'adoption_chat_catch_up_duration_seconds_count kind="resume"': 1,
      'adoption_chat_catch_up_duration_seconds_count kind="read-on"': 1,
      'adoption_chat_messages_caught_up_total kind="resume"': 2,
      'adoption_chat_messages_caught_up_total kind="read-on"': 1,
      adoption_chat_gaps_filled_total: 0,
      'adoption_http_request_duration_seconds_count method="POST",route="/chatroom/notification"': 1,
    });
    for (const command of ['find', 'insert', 'update'])
      expect(
        sumOf(during, `adoption_database_operation_duration_seconds_count command="${command}",outcome="ok"`),
        command,
      ).to.be.above(0);
    one.socket.disconnect();
    two.socket.io.engine.close();
    third.socket.disconnect();
    await eventually(async () =>
      expectRises(before, await figuresOf(base), {
        'adoption_sockets_open transport="websocket"': 0,
        'adoption_sockets_open transport="polling"': 0,
        adoption_socket_members: 0,
        adoption_chat_rooms_followed: 0,
        'adoption_sockets_closed_total transport="websocket",reason="client"': 2,
        'adoption_sockets_closed_total transport="polling",reason="transport"': 1,
      }),
    );
  });

  it('count an upgraded connection under its new transport', async () => {
    const { asker } = await openRoom();
    const before = await figuresOf(base);
    const { socket } = await connect(asker, { transports: ['polling', 'websocket'] });
    await eventually(() => expect(socket.io.engine.transport.name).to.equal('websocket'));
    await eventually(async () =>
      expectRises(before, await figuresOf(base), {
        'adoption_sockets_open transport="websocket"': 1,
        'adoption_sockets_open transport="polling"': 0,
        'adoption_sockets_opened_total transport="polling"': 1,
      }),
    );
  });

  it('count streams and notifications by their way, and time deliveries', async () => {
    const { domain } = await service();
    const { author, asker, chatNo, saleNo } = await openRoom();
    const before = await figuresOf(base);
    const stream = await openStream(author);
    await stream.next();
    const told = (text: string) => stream.next(({ data }) => data.includes(text));
    await pushTo({ chatNo, saleNo }, asker, 'for you');
    await told('for you');
    // As of another process: nothing pushes it here.
    const own = {
      memberNo: author.no,
      type: 'note' as const,
      url: '',
      senderNo: asker.no,
      content: 'unpushed',
    };
    const [_id, last] = [
      await nextNumbers('notification'),
      await Notification.findOne({ memberNo: author.no }).lean(),
    ];
    await Notification.create({
      ...own,
      _id,
      n: (last?.n ?? 0) + 1,
      cause: 'a test',
      publishedAt: new Date(),
      checked: false,
      deleted: false,
    });
    domain.notifications.pollSoon();
    await told('unpushed');
    const again = await openStream(author, { lastEventId: `${author.no}_0` });
    await again.next(({ data }) => data.includes('unpushed'));
    expectRises(before, await figuresOf(base), {
      adoption_event_streams_open: 2,
      'adoption_event_stream_notifications_total source="push"': 2,
      'adoption_event_stream_notifications_total source="replay"': 2,
      adoption_event_stream_delivery_duration_seconds_count: 2,
      'adoption_notifications_stored_total type="chat"': 1,
      adoption_notifications_polled_total: 1,
    });
  });

  it('show what waits to be stored, and what is not read', async () => {
    const { asker, chatNo } = await openRoom();
    const client: Client = await connect(asker);
    const { open, opened } = gate();
    const storing = gate();
    const restore = interceptCalls([Message], async (_model, call, run) => {
      if (call === 'insertMany') {
        storing.open();
        await opened;
      }
      return run();
    });
    try {
      const sending = [client.send(chatNo, 'first')];
      await storing.opened;
      sending.push(...Array.from({ length: 3 }, (_, i) => client.send(chatNo, `${i}`)));
      await eventually(async () => {
        const figures = await figuresOf(base);
        expect(sumOf(figures, 'adoption_queue_length queue="ledger"')).to.be.within(1, 3);
      });
      open();
      await Promise.all(sending);
    } finally {
      open();
      restore();
    }
    const after = await figuresOf(base);
    expect(sumOf(after, 'adoption_queue_length queue="ledger"')).to.equal(0);
    for (const queue of ['notify', 'notifications', 'pushes', 'joins', 'searches', 'database'])
      expect([...after.keys()].join('\n')).to.include(`adoption_queue_length queue="${queue}"`);
    for (const channel of ['sockets', 'streams', 'answers'])
      expect([...after.keys()].join('\n')).to.include(`adoption_unread_bytes channel="${channel}"`);
    expect(sumOf(after, 'adoption_http_connections_open')).to.be.above(0);
  });
});
