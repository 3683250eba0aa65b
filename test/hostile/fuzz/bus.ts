import { expect } from 'chai';
import fc from 'fast-check';
import { z } from 'zod';
import { notificationView } from '../../../domain/kernel/live.js';
import { redisChannels } from '../../../domain/kernel/redis-keys.js';
import { pushes } from '../../../gateway/protocol.js';
import { pushTo } from '../../support/chat.js';
import { startCluster } from '../../support/cluster.js';
import { openConnections } from '../../support/redis.js';
import { connect } from '../../support/sockets.js';
import { openStream } from '../../support/streams.js';
import { type Door, expectNoScans, MEASURED } from './door.js';
import { jsonOf, near, type Schema, wild } from './values.js';

interface Published {
  channel: string;
  text: string;
  /** As our processes sign it; otherwise as anybody may publish it. */
  signed: boolean;
}

/** The room, and its members, to whom the sockets and streams here listen. */
const [ROOM, AUTHOR, ASKER] = [1, 1, 2];

const known = { chatNo: [ROOM], memberNo: [AUTHOR, ASKER], seq: [1, 2, 3, 100], n: [1, 2, 3, 100] };

const schemaOf = (schema: z.ZodType) => z.toJSONSchema(schema, { unrepresentable: 'any' }) as Schema;

const push = fc.oneof(
  ...Object.entries(pushes).map(([event, { payload }]) =>
    fc.tuple(fc.constant(event), near(schemaOf(payload), { known })),
  ),
  wild,
);
const delivery = near(schemaOf(z.object({ memberNo: z.int(), n: z.int(), view: notificationView })), {
  known,
});

const { sockets } = redisChannels;
const rooms = [`room:${ROOM}`, `member:${AUTHOR}`, 'member:1e0', 'room:', '__proto__', ''];
const channel = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...rooms.slice(0, 2).map((room) => `${sockets}#/#${room}#`)) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      redisChannels.deliveries(AUTHOR),
      redisChannels.presenceCleared,
      redisChannels.presenceLost,
    ),
  },
  fc.constantFrom(
    ...[`${sockets}#/#`, `${sockets}-request#/#`, `${sockets}-response#/#`, redisChannels.deliveries('')],
    ...rooms.slice(2).map((room) => `${sockets}#/#${room}#`),
  ),
);

const published: fc.Arbitrary<Published> = fc.record({
  channel,
  text: fc.oneof(jsonOf(push), jsonOf(delivery), fc.constantFrom(String(ROOM), '1e99', ''), fc.string()),
  signed: fc.boolean(),
});

/** What arrives from Redis: of our processes with odd contents, or of a stranger. */
export const bus: Door<Published> = {
  name: 'bus',
  cases: 200,
  input: published,
  async open() {
    const cluster = await startCluster({ http: 1, gateways: 1, env: { LOG_LEVEL: 'error', ...MEASURED } });
    const [http = '', gateway = ''] = [...cluster.http, ...cluster.gateways];
    const room = await cluster.openRoom();
    expect([room.chatNo, room.author.no, room.asker.no]).to.deep.equal([ROOM, AUTHOR, ASKER]);
    const client = await connect(room.author, {}, gateway);
    await client.join(ROOM);
    const stream = await openStream(room.author, { base: http });
    await stream.next();
    const connections = openConnections();
    const ours = await connections.connect(cluster.redis.url);
    return {
      processes: cluster.processes,
      async send({ channel, text, signed }) {
        if (signed) await ours.publish(channel, text);
        else await ours.commands.publish(channel, text);
        expect(await client.join(ROOM)).to.include({ status: 200 });
        expect((await room.author.get('/healthz')).status).to.equal(200);
      },
      async check() {
        const content = 'after all of it';
        const { body } = await pushTo<{ seq: number }>(room, room.asker, content);
        expect(body).to.be.an('object');
        // Before the join: what its answer holds is not sent again.
        await client.next('message', (message: { content: string }) => message.content === content);
        expect(JSON.stringify(await client.join(ROOM))).to.include(JSON.stringify(content));
        await cluster.ready();
        await expectNoScans(`mongodb://127.0.0.1:${cluster.mongoPort}`);
      },
      async close() {
        client.socket.disconnect();
        stream.close();
        await connections.close();
        await cluster.stop();
      },
    };
  },
};
