import { expect } from 'chai';
import { EventSourcePolyfill } from 'event-source-polyfill';
import { type Member, member } from '../support/api.js';
import { eventually } from '../support/eventually.js';
import { serveHttp } from '../support/http-server.js';
import { notifyOf } from '../support/notifications.js';
import { breakOff, rawConnection, rawGet } from '../support/raw-connection.js';
import { service } from '../support/service.js';
import { countStreams, openStream } from '../support/streams.js';

describe('event streams of broken and greedy clients', () => {
  let me: Member;
  beforeEach(async () => {
    me = await member();
  });

  it('37: open with any Last-Event-ID, and replay exactly what follows it', async () => {
    for (let i = 1; i <= 3; i += 1) await notifyOf(me, `n${i}`);
    const { no } = me;
    const forms: Record<string, string[]> = {
      [`${no}_3`]: [],
      [`${no}_1`]: ['n2', 'n3'],
      [`${no}_0`]: ['n1', 'n2', 'n3'],
      [`${no}_4`]: [],
      // Above the last one: numbers have begun anew, as after a restore.
      [`${no}_999999999`]: ['n1', 'n2', 'n3'],
      [`${no + 1}_0`]: [],
      [`${no}_1600000000000`]: ['n1', 'n2', 'n3'],
      // The largest number, and the smallest time.
      [`${no}_999999999999`]: ['n1', 'n2', 'n3'],
      [`${no}_1000000000000`]: ['n1', 'n2', 'n3'],
      [`${no}_999999999999999`]: [],
      [`${no}_${Date.now() + 60_000}`]: [],
      // Beyond the range of dates: was taken for a time, and answered 500.
      [`${no}_9999999999999999`]: [],
      [`${no}_8640000000000001`]: [],
      [`${no}_-1`]: [],
      [`${no}_1e0`]: [],
      [`${no}_`]: [],
      _: [],
      '0': [],
      '💥': [],
      ' ': [],
    };
    for (const [lastEventId, expected] of Object.entries(forms)) {
      // A query may hold characters that a header may not.
      const stream = await openStream(me, { query: `?lastEventId=${encodeURIComponent(lastEventId)}` });
      expect(stream.status, lastEventId).to.equal(200);
      await notifyOf(me, 'now');
      await stream.next(({ data }) => data.includes('"now"'));
      const contents = stream.events
        .slice(1)
        .map(({ data }) => (JSON.parse(data) as { content: string }).content);
      expect(
        contents.filter((content) => /^n\d$/.test(content)),
        lastEventId,
      ).to.deep.equal(expected);
      stream.close();
    }
  });

  it('40: are never compressed, also where a client accepts it', async () => {
    const { http } = await service();
    const answer = await fetch(`${http}/notification/connect`, {
      headers: { Authorization: me.token, 'Accept-Encoding': 'gzip, br' },
    });
    expect(answer.headers.get('content-encoding')).to.equal(null);
    expect(answer.headers.get('cache-control')).to.equal('no-cache, no-transform');
    expect(answer.headers.get('content-type')).to.equal('text/event-stream;charset=UTF-8');
    await answer.body?.cancel();
  });

  it('39: are limited to ten a member: one too many is told to come back later, and the others stay open', async () => {
    const before = await countStreams();
    const { server, base } = await serveHttp({ RATE_LIMIT: 'on' });
    const streams = [];
    for (let i = 0; i < 10; i += 1) streams.push(await openStream(me, { base }));
    for (let i = 0; i < 3; i += 1) {
      const refused = await openStream(me, { base, lastEventId: `${me.no}_0` });
      await refused.ended;
      const { status, events, comments, retry } = refused;
      expect({ status, events, comments, retry }).to.deep.equal({
        ...{ status: 200, events: [], comments: ['too-many'], retry: 60_000 },
      });
    }
    expect(await countStreams()).to.equal(before + 10);
    await notifyOf(me, 'hello');
    await Promise.all(streams.map((stream) => stream.next(({ data }) => data.includes('hello'))));
    streams[0]?.close();
    await eventually(async () => expect(await countStreams()).to.equal(before + 9));
    const next = await openStream(me, { base });
    await next.next();
    for (const stream of [...streams, next]) stream.close();
    await eventually(async () => expect(await countStreams()).to.equal(before));
    await server.drain();
  });

  it('39: one too many has the usual polyfill wait, and not give up', async () => {
    const { server, base } = await serveHttp({ RATE_LIMIT: 'on' });
    const streams = [];
    for (let i = 0; i < 10; i += 1) streams.push(await openStream(me, { base }));
    const source = new EventSourcePolyfill(`${base}/notification/connect`, {
      headers: { Authorization: me.token },
    });
    try {
      await new Promise((resolve) => source.addEventListener('error', resolve));
      expect(source.readyState).to.equal(EventSourcePolyfill.CONNECTING);
    } finally {
      source.close();
      for (const stream of streams) stream.close();
      await server.drain();
    }
  });

  it('40: of clients that disconnect at once leave nothing behind', async () => {
    const { http } = await service();
    const before = await countStreams();
    await breakOff(http, Array(50).fill(rawGet('/notification/connect', me.token)));
    await eventually(async () => expect(await countStreams()).to.equal(before));
  });

  it('40: of a reader that stops are closed at 1 MiB of lag, and replay the rest when it reconnects', async () => {
    const { http } = await service();
    const before = await countStreams();
    const reader = rawConnection(http, rawGet('/notification/connect', me.token));
    await reader.until(/EventStream Created/);
    reader.socket.pause();
    let sent = 0;
    await eventually(async () => {
      // Large ones: the system buffers some megabytes first.
      await Promise.all(Array.from({ length: 20 }, () => notifyOf(me, 'hello', 'x'.repeat(100_000))));
      sent += 20;
      expect(await countStreams()).to.equal(before);
    }, 20_000);
    reader.socket.resume();
    await reader.ended;
    const seen = [...reader.text.matchAll(/^id: \d+_(\d+)\nevent: sse\ndata: .*\n\n/gm)].map((m) =>
      Number(m[1]),
    );
    const last = seen.at(-1) ?? 0;
    expect(seen.slice(1)).to.deep.equal(Array.from({ length: last }, (_, i) => i + 1));
    const back = await openStream(me, { lastEventId: `${me.no}_${last}` });
    await back.next(({ id }) => id === `${me.no}_${sent}`);
    expect(back.events.slice(1).map(({ id }) => id)).to.deep.equal(
      Array.from({ length: sent - last }, (_, i) => `${me.no}_${last + i + 1}`),
    );
  });
});
