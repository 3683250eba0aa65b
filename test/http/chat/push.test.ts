import { expect } from 'chai';
import { metrics } from '../../../domain/platform/observe/metrics.js';
import { anyone, expectError, type Member, member } from '../../support/api.js';
import { contentsOf, type OpenedRoom, openRoom, push, pushTo, timesNotified } from '../../support/chat.js';
import { counted } from '../../support/counted.js';
import { connect } from '../../support/sockets.js';

describe('POST /chatroom/notification', () => {
  let room: OpenedRoom;
  let author: Member;
  let asker: Member;
  let chatNo: number;
  let saleNo: number;

  beforeEach(async () => {
    room = await openRoom();
    ({ author, asker, chatNo, saleNo } = room);
  });

  const contents = () => contentsOf(asker, chatNo);
  const withoutToken = (json: object, headers: Record<string, string> = {}) =>
    anyone.post<{ senderNo: number }>('/chatroom/notification', json, headers);

  it('stores and delivers as a socket send does, and fills every field', async () => {
    const theirs = await connect(author);
    await theirs.join(chatNo);
    const answer = await pushTo<Record<string, unknown>>(room, asker, 'hi');
    expect(answer.body).to.deep.equal({
      id: answer.body.id,
      chatNo,
      contentType: 'text',
      content: 'hi',
      senderName: asker.nickname,
      senderNo: asker.no,
      saleNo,
      sendTime: answer.body.sendTime,
      readCount: 0,
      senderEmail: asker.email,
    });
    expect(answer.body.id).to.be.a('string');
    expect(answer.body.sendTime).to.be.closeTo(Date.now(), 10_000);
    expect(await theirs.next('message')).to.deep.equal({ ...answer.body, seq: 1 });
    expect((await author.get<unknown[]>('/notification/all')).body, 'present: no notification').to.deep.equal(
      [],
    );
  });

  it('answers a retry with the first message', async () => {
    const body = push(chatNo, saleNo, 'once');
    const answers = await Promise.all([1, 2, 3].map(() => asker.post('/chatroom/notification', body)));
    expect(answers[1]?.body).to.deep.equal(answers[0]?.body);
    expect(answers[2]?.body).to.deep.equal(answers[0]?.body);
    expect(await contents()).to.deep.equal(['once']);
  });

  it('treats a different time, type, text or sender as another message', async () => {
    const first = push(chatNo, saleNo, 'https://example.org/cat.png', { sendTime: Date.now() });
    const counts = async () => [
      await counted(metrics.messages, { outcome: 'stored' }),
      await counted(metrics.messages, { outcome: 'repeated' }),
    ];
    const [stored = 0, repeated = 0] = await counts();
    const ids = new Set<string>();
    for (const body of [
      first,
      { ...first, sendTime: Date.now() + 1_000, saleNo: null },
      { ...first, contentType: 'image' },
      { ...first, content: 'https://example.org/dog.png' },
      first,
      // A retry, not a broadcast posted back: naming oneself as sender changes nothing.
      { ...first, senderNo: asker.no, senderEmail: asker.email },
    ]) {
      ids.add((await asker.post<{ id: string }>('/chatroom/notification', body)).body.id);
    }
    ids.add((await author.post<{ id: string }>('/chatroom/notification', first)).body.id);
    expect([...ids]).to.have.length(5);
    expect(await counts()).to.deep.equal([stored + 5, repeated + 2]);
  });

  it('accepts numbers as text of digits, also to recognise a retry', async () => {
    const sendTime = Date.now();
    const first = await pushTo(room, asker, 'once', { sendTime });
    const asText = { chatNo: `${chatNo}`, saleNo: `${saleNo}`, sendTime: `${sendTime}` };
    const again = await pushTo(room, asker, 'once', asText);
    expect(again.body).to.deep.equal(first.body);
    expect(await contents()).to.deep.equal(['once']);
  });

  it('recognises a retry and a broadcast posted back in any form of Unicode, and keeps that of the first', async () => {
    const [composed, decomposed] = ['나비'.normalize('NFC'), '나비'.normalize('NFD')];
    const sendTime = Date.now();
    const first = await pushTo(room, asker, decomposed, { sendTime });
    expect((await pushTo(room, asker, composed, { sendTime })).body).to.deep.equal(first.body);
    const back = push(chatNo, saleNo, composed, { senderEmail: asker.email });
    expect((await author.post('/chatroom/notification', back)).body).to.deep.equal(first.body);
    expect(await contents()).to.deep.equal([decomposed]);
  });

  it('treats two pushes with the same text as two messages if sendTime is implausible', async () => {
    const day = 24 * 3_600_000;
    const moments = [
      0,
      1,
      '1',
      Date.now() - day - 60_000,
      Date.now() + day + 60_000,
      2 ** 53 - 1,
      null,
      undefined,
    ];
    for (const sendTime of moments) {
      const body = push(chatNo, saleNo, `at ${sendTime}`, { sendTime });
      const answers = [
        await asker.post<{ id: string }>('/chatroom/notification', body),
        await asker.post<{ id: string }>('/chatroom/notification', body),
      ];
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
      expect(answers[0]?.body.id, `sendTime ${sendTime}`).not.to.equal(answers[1]?.body.id);
    }
    const plausible = [Date.now() - day + 60_000, Date.now() + day - 60_000, new Date().toISOString()];
    for (const sendTime of plausible) {
      const body = push(chatNo, saleNo, `at ${sendTime}`, { sendTime });
      const first = await asker.post('/chatroom/notification', body);
      expect((await asker.post('/chatroom/notification', body)).body).to.deep.equal(first.body);
    }
    expect(await contents()).to.have.length(2 * moments.length + plausible.length);
    for (const sendTime of ['now', -1, 1.5, {}, '2022-13-45T99:99']) {
      await expectError(pushTo(room, asker, 'x', { sendTime }), 400, 'INVALID_INPUT', /^sendTime: must /);
    }
  });

  it('answers a broadcast that is posted back with the stored message, without a token', async () => {
    const first = await pushTo(room, asker, 'echo me');
    const copy = { ...first.body, content: 'altered', senderEmail: author.email, sendTime: '2022-08-01' };
    const echoes = await Promise.all([1, 2, 3].map(() => withoutToken(copy, { 'User-Agent': 'echo' })));
    for (const echo of echoes) expect(echo.body).to.deep.equal({ ...first.body, senderEmail: '' });
    expect(await contents()).to.deep.equal(['echo me']);
    expect(await timesNotified(author, asker, room)).to.equal(1);
    await expectError(withoutToken({ ...copy, id: '0190-unknown' }), 404, 'MESSAGE_NOT_FOUND');
    const other = await openRoom();
    const inAnother = await withoutToken({ ...copy, chatNo: other.chatNo, saleNo: other.saleNo });
    expect(inAnother.status).to.equal(404);
  });

  it('treats an empty senderEmail as absent', async () => {
    const sent = await pushTo<{ senderEmail: string }>(room, asker, 'hi', { senderEmail: '' });
    expect([sent.status, sent.body.senderEmail]).to.deep.equal([200, asker.email]);
  });

  it('identifies a sender without a token by the session cookie, else by the client', async () => {
    const anonymous = (headers: Record<string, string>, more: object = {}) =>
      withoutToken(push(chatNo, saleNo, `from ${JSON.stringify(headers)}`, more), headers);
    expect((await anonymous({ 'User-Agent': 'nobody' })).status).to.equal(401);

    const signedIn = await asker.get('/chatroom', { 'User-Agent': 'phone-1' });
    const cookie = signedIn.headers.get('set-cookie') ?? '';
    expect(cookie).to.match(/^session=[\w.-]+; path=\/chatroom; expires=[^;]+ GMT; samesite=lax; httponly$/);
    const byCookie = await anonymous({ 'User-Agent': 'other', Cookie: cookie.split(';')[0] ?? '' });
    expect(byCookie.body.senderNo).to.equal(asker.no);
    const byForeignPage = await anonymous({
      'User-Agent': 'other',
      Origin: 'https://evil.example',
      Cookie: cookie.split(';')[0] ?? '',
    });
    expect(byForeignPage.status, 'a page of another origin has no use of the cookie').to.equal(401);
    const foreign = { 'User-Agent': 'phone-1', Origin: 'https://evil.example' };
    expect((await anonymous(foreign)).status, 'nor of where the member was seen').to.equal(401);
    const ours = { 'User-Agent': 'phone-1', Origin: 'http://localhost:3000' };
    expect((await anonymous(ours)).body.senderNo).to.equal(asker.no);
    const forwarded = { 'User-Agent': 'phone-1', 'X-Forwarded-For': '203.0.113.7' };
    expect((await anonymous(forwarded)).status, 'an address that is anybody’s').to.equal(401);
    await asker.get('/chatroom', { 'User-Agent': 'phone-2', 'X-Forwarded-For': '203.0.113.7' });
    expect((await anonymous({ 'User-Agent': 'phone-2' })).status, 'nobody is known by it').to.equal(401);

    const byClient = await anonymous({ 'User-Agent': 'phone-1' });
    expect(byClient.body.senderNo).to.equal(asker.no);
    await author.get('/chatroom', { 'User-Agent': 'phone-1' });
    const latest = await anonymous({ 'User-Agent': 'phone-1' }, { sendTime: 2 });
    expect(latest.body.senderNo, 'the participant seen last').to.equal(author.no);
    const picked = await anonymous({ 'User-Agent': 'phone-1' }, { sendTime: 3, senderEmail: asker.email });
    expect(picked.body.senderNo).to.equal(asker.no);
    const third = await member();
    const added = await anonymous({ 'User-Agent': 'phone-1' }, { sendTime: 4, senderNo: third.no });
    expect(added.status, 'a payload never adds a sender').to.equal(401);
  });

  it('reveals nothing of a room to an unknown caller, with an id or without', async () => {
    const unknown = 99_999_999;
    const pushes = [
      { saleNo },
      { saleNo: saleNo + 1 },
      { senderEmail: asker.email },
      { senderEmail: 'nobody@example.org' },
      { senderNo: author.no },
      { id: 'no-such-message' },
    ];
    for (const more of pushes) {
      const answers = await Promise.all(
        [chatNo, unknown].map((no) =>
          withoutToken(push(no, saleNo, 'x', more), { 'User-Agent': 'never seen before' }),
        ),
      );
      const [there, missing] = answers.map(({ status, text }) => [status, text.replaceAll(/\d+/g, 'N')]);
      expect(missing, JSON.stringify(more)).to.deep.equal(there);
      expect(there?.[0]).to.equal('id' in more ? 404 : 401);
    }
    expect(await contents()).to.deep.equal([]);
  });

  it('refuses strangers, foreign sales and unknown rooms', async () => {
    const stranger = await member();
    expect((await pushTo(room, stranger, 'x')).status).to.equal(403);
    const foreign = pushTo({ chatNo, saleNo: saleNo + 1 }, asker, 'x');
    await expectError(foreign, 400, 'INVALID_INPUT', /^saleNo/);
    expect((await pushTo({ chatNo: 999_999, saleNo }, asker, 'x')).status).to.equal(404);
  });
});
