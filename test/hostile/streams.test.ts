import { connect as connectTcp } from 'node:net';
import { expect } from 'chai';
import { type Member, member } from '../support/api.js';
import { eventually } from '../support/eventually.js';
import { service } from '../support/service.js';
import { openStream } from '../support/streams.js';

async function notify(who: Member, content = 'hello'): Promise<void> {
  const { domain } = await service();
  await domain.notifications.notify({
    memberNo: who.no,
    type: 'note',
    content,
    url: 'x',
    originNo: 0,
    cause: `test:${Math.random()}`,
  });
}

/** How many streams the service holds open, from its own figures. */
async function openStreams(): Promise<number> {
  const { http } = await service();
  const text = await (await fetch(`${http}/metrics`)).text();
  return Number(/^event_streams_open (\d+)$/m.exec(text)?.[1]);
}

describe('event streams under strain', () => {
  let me: Member;
  beforeEach(async () => {
    me = await member();
  });

  it('open with any Last-Event-ID there is, and replay only what it says', async () => {
    for (let i = 1; i <= 3; i += 1) await notify(me, `n${i}`);
    const { no } = me;
    const forms: Record<string, string[]> = {
      [`${no}_3`]: [],
      [`${no}_1`]: ['n2', 'n3'],
      [`${no}_0`]: ['n1', 'n2', 'n3'],
      [`${no}_4`]: [],
      [`${no}_999999999`]: [],
      [`${no + 1}_0`]: [],
      [`${no}_1600000000000`]: ['n1', 'n2', 'n3'],
      // The last number, and the first time.
      [`${no}_999999999999`]: [],
      [`${no}_1000000000000`]: ['n1', 'n2', 'n3'],
      [`${no}_999999999999999`]: [],
      [`${no}_${Date.now() + 60_000}`]: [],
      // Longer than any date there is: was taken for a time of its own, and answered 500.
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
      // As a query, which may hold what a header may not.
      const stream = await openStream(me, { query: `?lastEventId=${encodeURIComponent(lastEventId)}` });
      expect(stream.status, lastEventId).to.equal(200);
      await notify(me, 'now');
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

  it('are never compressed, and are cut off by nobody who asks for it', async () => {
    const { http } = await service();
    const answer = await fetch(`${http}/notification/connect`, {
      headers: { Authorization: me.token, 'Accept-Encoding': 'gzip, br' },
    });
    expect(answer.headers.get('content-encoding')).to.equal(null);
    expect(answer.headers.get('cache-control')).to.equal('no-cache, no-transform');
    expect(answer.headers.get('content-type')).to.equal('text/event-stream;charset=UTF-8');
    await answer.body?.cancel();
  });

  it('are capped at ten a member, the oldest giving way, and counted back to none', async () => {
    const before = await openStreams();
    const streams = [];
    for (let i = 0; i < 20; i += 1) streams.push(await openStream(me));
    await Promise.all(streams.slice(0, 10).map(({ ended }) => ended));
    expect(await openStreams()).to.equal(before + 10);
    await notify(me);
    await Promise.all(streams.slice(10).map((stream) => stream.next(({ data }) => data.includes('hello'))));
    for (const stream of streams) stream.close();
    await eventually(async () => expect(await openStreams()).to.equal(before));
  });

  it('of clients that vanish at once leave nothing behind', async () => {
    const { http } = await service();
    const before = await openStreams();
    const { hostname, port } = new URL(http);
    const request = `GET /notification/connect HTTP/1.1\r\nHost: x\r\nAuthorization: ${me.token}\r\n\r\n`;
    await Promise.all(
      Array.from(
        { length: 50 },
        (_, i) =>
          new Promise<void>((resolve) => {
            const socket = connectTcp(Number(port), hostname, () => {
              socket.write(request);
              if (i % 2) socket.resetAndDestroy();
              else setImmediate(() => socket.destroy());
            });
            socket.on('error', () => {});
            socket.on('close', () => resolve());
          }),
      ),
    );
    await eventually(async () => expect(await openStreams()).to.equal(before));
  });

  it('of a reader that stopped are cut at 1 MiB, and lose nothing when it comes back', async () => {
    const { http } = await service();
    const before = await openStreams();
    const { hostname, port } = new URL(http);
    let received = '';
    const socket = connectTcp(Number(port), hostname);
    socket.write(`GET /notification/connect HTTP/1.1\r\nHost: x\r\nAuthorization: ${me.token}\r\n\r\n`);
    await new Promise<void>((resolve) =>
      socket.on('data', (chunk) => {
        const isOpen = received.includes('EventStream Created');
        received += chunk;
        if (isOpen || !received.includes('EventStream Created')) return;
        socket.pause();
        resolve();
      }),
    );
    const gone = new Promise((resolve) => socket.on('close', resolve));
    socket.on('error', () => {});
    const { domain } = await service();
    let sent = 0;
    await eventually(async () => {
      await Promise.all(
        Array.from({ length: 20 }, () => {
          sent += 1;
          return domain.notifications.notify({
            memberNo: me.no,
            type: 'note',
            content: 'hello',
            // Large ones: the system's own buffers take some megabytes first.
            url: 'x'.repeat(100_000),
            originNo: 0,
            cause: `slow:${sent}`,
          });
        }),
      );
      expect(await openStreams()).to.equal(before);
    }, 20_000);
    socket.resume();
    await gone;
    const seen = [...received.matchAll(/^id: \d+_(\d+)\nevent: sse\ndata: .*\n\n/gm)].map((m) =>
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
