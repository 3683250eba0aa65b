import { expect } from 'chai';
import type { NotificationView as Record } from '../../../domain/kernel/live.js';
import { type Member, member } from '../../support/api.js';
import { openRoom, pushTo } from '../../support/chat.js';
import { notify, writeElsewhere } from '../../support/notifications.js';
import { service } from '../../support/service.js';
import { connect } from '../../support/sockets.js';
import { openStream } from '../../support/streams.js';

describe('GET /notification/connect', () => {
  it('opens with the documented headers and the legacy first event, then sends records with rising ids', async () => {
    const who = await member();
    const stream = await openStream(who);
    expect(stream.status).to.equal(200);
    expect(stream.headers.get('content-type')).to.match(/^text\/event-stream/);
    expect(stream.headers.get('x-accel-buffering')).to.equal('no');
    expect(stream.headers.get('connection')).to.equal('keep-alive');
    const first = await stream.next();
    expect(first).to.deep.include({
      event: 'sse',
      data: `EventStream Created. [userId=${who.no}]`,
      id: `${who.no}_0`,
    });
    expect(stream.retry).to.be.a('number');
    const records = [await notify(who, 'x'), await notify(who, 'y')];
    await stream.next((event) => event.id === `${who.no}_2`);
    expect(stream.events.slice(1).map(({ id, event, data }) => [id, event, JSON.parse(data)])).to.deep.equal([
      [`${who.no}_1`, 'sse', records[0]],
      [`${who.no}_2`, 'sse', records[1]],
    ]);
  });

  it('replays what was missed, in order, by header or query', async () => {
    const who = await member();
    for (const content of ['1', '2', '3']) await notify(who, content);
    for (const options of [
      { lastEventId: `${who.no}_1` },
      { query: `?lastEventId=${who.no}_1` },
      // The polyfill repeats its first header; a browser's own client repeats the query.
      { lastEventId: `${who.no}_0`, query: `?lastEventId=${who.no}_1` },
      { lastEventId: `${who.no}_1`, query: `?lastEventId=${who.no}_0` },
      { lastEventId: `${who.no}_1`, query: '?lastEventId=nonsense' },
      { lastEventId: `${who.no + 1}_3`, query: `?lastEventId=${who.no}_1` },
    ]) {
      const stream = await openStream(who, options);
      await stream.next((event) => event.id === `${who.no}_3`);
      expect(stream.events[0]?.id, 'the first event does not move the cursor').to.equal(`${who.no}_1`);
      expect(stream.events.slice(1).map(({ data }) => JSON.parse(data).content)).to.deep.equal(['2', '3']);
    }
  });

  it('replays page by page, however much was missed, and nothing that was deleted', async () => {
    const who = await member();
    // Whole pages, and deleted ones at the ends of pages and of everything.
    const deleted = new Set([1, 500, 501, 1_000, 1_499, 1_500]);
    await writeElsewhere(
      Array.from({ length: 1_500 }, (_, i) => ({
        ...{ memberNo: who.no, n: i + 1, content: `${i + 1}`, deleted: deleted.has(i + 1) },
      })),
    );
    const expected = Array.from({ length: 1_500 }, (_, i) => i + 1).filter((n) => !deleted.has(n));
    const { domain } = await service();
    const pages: number[][] = [];
    for await (const page of domain.notifications.replayAfter(who.no, 0)) pages.push(page.map(({ n }) => n));
    expect(pages.flat()).to.deep.equal(expected);
    expect(Math.max(...pages.map(({ length }) => length)), 'held in memory').to.be.at.most(500);
    const stream = await openStream(who, { lastEventId: `${who.no}_0` });
    await stream.next(({ id }) => id === `${who.no}_1498`);
    await notify(who, 'live');
    await stream.next(({ id }) => id === `${who.no}_1501`);
    expect(stream.events.slice(1).map(({ id }) => id)).to.deep.equal(
      [...expected, 1_501].map((n) => `${who.no}_${n}`),
    );
  });

  it('replays everything later than a time, to the millisecond', async () => {
    const who = await member();
    const at = Date.now() - 60_000;
    await writeElsewhere(
      [0, 1, 1, 2].map((ms, i) => ({
        ...{ memberNo: who.no, n: i + 1, content: `${i + 1}`, publishedAt: new Date(at + ms) },
      })),
    );
    for (const [time, first] of [
      [at - 1, 0],
      [at, 1],
      [at + 1, 3],
      [at + 2, 4],
    ] as const) {
      const stream = await openStream(who, { lastEventId: `${who.no}_${time}` });
      expect((await stream.next()).id).to.equal(`${who.no}_${first}`);
    }
  });

  it('37: replays from a time given in the legacy form, and nothing for ids that are not the member’s', async () => {
    const who = await member();
    const before = Date.now() - 1_000;
    await notify(who, 'old');
    const legacy = await openStream(who, { lastEventId: `${who.no}_${before}` });
    expect(JSON.parse((await legacy.next((e) => e.id === `${who.no}_1`)).data).content).to.equal('old');
    const ids = [`${who.no + 1}_0`, 'garbage', `${who.no}_${Date.now() + 60_000}`, `${who.no}_-1`];
    const streams = await Promise.all(ids.map((lastEventId) => openStream(who, { lastEventId })));
    await notify(who, 'new');
    for (const [i, stream] of streams.entries()) {
      await stream.next((e) => e.id === `${who.no}_2`);
      expect(
        stream.events.map(({ id }) => id),
        ids[i],
      ).to.deep.equal([`${who.no}_1`, `${who.no}_2`]);
    }
  });

  it('37: replays everything for a number above the last one, and says by its first id that numbers have begun anew', async () => {
    const who = await member();
    await notify(who, 'first');
    await notify(who, 'second');
    const both = { lastEventId: `${who.no}_999`, query: `?lastEventId=${who.no}_1` };
    for (const options of [{ lastEventId: `${who.no}_3` }, both]) {
      const stream = await openStream(who, options);
      await stream.next((e) => e.id === `${who.no}_2`);
      expect(stream.events.map(({ id }) => id)).to.deep.equal([0, 1, 2].map((n) => `${who.no}_${n}`));
    }
    const current = await openStream(who, { lastEventId: `${who.no}_2` });
    expect((await current.next()).id).to.equal(`${who.no}_2`);
  });

  it('37: opens for any last id, of any length, in header or query, once or twice', async () => {
    const who = await member();
    await notify(who, 'before');
    const opened = await Promise.all([
      ...['x'.repeat(300), 'x'.repeat(20_000), 'é'.repeat(500), '%', '\t', `${who.no}_1, ${who.no}_0`].map(
        (lastEventId) => openStream(who, { lastEventId }),
      ),
      ...[
        `?lastEventId=${'y'.repeat(20_000)}`,
        `?lastEventId=${who.no}_0&lastEventId=${who.no}_1`,
        '?lastEventId[$ne]=1',
        '?lastEventId=%00%ED%A0%80',
      ].map((query) => openStream(who, { query })),
    ]);
    for (const stream of opened) {
      expect(stream.status).to.equal(200);
      expect((await stream.next()).id, 'nothing is replayed').to.equal(`${who.no}_1`);
    }
  });

  it('38: delivers what is written during the replay once, and in order', async () => {
    const who = await member();
    for (let i = 1; i <= 30; i += 1) await notify(who, `old ${i}`);
    const [stream] = await Promise.all([
      openStream(who, { lastEventId: `${who.no}_0` }),
      ...Array.from({ length: 20 }, (_, i) => notify(who, `new ${i}`)),
    ]);
    await stream.next((event) => event.id === `${who.no}_50`);
    expect(stream.events.slice(1).map(({ id }) => id)).to.deep.equal(
      Array.from({ length: 50 }, (_, i) => `${who.no}_${i + 1}`),
    );
  });

  it('carries the same record as the list and the socket', async () => {
    const room = await openRoom();
    const { author, asker } = room;
    const [stream, socket] = await Promise.all([openStream(author), connect(author)]);
    await stream.next();
    await pushTo(room, asker, 'hello');
    const pushed = await socket.next('notification');
    const [listed] = (await author.get<Record[]>('/notification/all')).body;
    expect(pushed).to.deep.equal(listed);
    expect(JSON.parse((await stream.next((e) => e.id === `${author.no}_1`)).data)).to.deep.equal(listed);
  });

  it('ends when the token expires', async () => {
    const { token } = await service();
    const email = `short-${process.pid}@example.org`;
    const stream = await openStream({ token: await token(email, { ttl: '2s' }) });
    await stream.next();
    await stream.ended;
  });

  it('delivers what another process has written, in order and once, each with its own number', async () => {
    const [one, two] = [await member(), await member()];
    const [stream, socket, other] = [await openStream(one), await connect(one), await connect(two)];
    const notices: [Member, number, string][] = [
      [one, 1, 'to all'],
      [two, 1, 'to all'],
      [one, 2, 'to one'],
      [one, 3, 'to all'],
    ];
    const firstId = await writeElsewhere(
      notices.map(([{ no }, n, content]) => ({ memberNo: no, n, content })),
    );
    await stream.next(({ id }) => id === `${one.no}_3`);
    await socket.next<Record>('notification', ({ id }) => id === firstId + 3);
    await other.next<Record>('notification', ({ id }) => id === firstId + 1);
    const told = [
      [firstId, 'to all'],
      [firstId + 2, 'to one'],
      [firstId + 3, 'to all'],
    ];
    const asHeard = ({ id, content }: Record) => [id, content];
    expect(socket.heard<Record>('notification').map(asHeard)).to.deep.equal(told);
    expect(
      stream.events.filter(({ data }) => data.startsWith('{')).map(({ data }) => asHeard(JSON.parse(data))),
    ).to.deep.equal(told);
    expect(other.heard<Record>('notification').map(asHeard)).to.deep.equal([[firstId + 1, 'to all']]);
    expect(socket.heard<Record>('notification')).to.deep.equal(
      (await one.get<Record[]>('/notification/all')).body.reverse(),
    );
  });
});
