import { expect } from 'chai';
import { metrics } from '../../../domain/platform/metrics.js';
import { call, type Member, member } from '../../support/api.js';
import { openRoom, push, timesNotified } from '../../support/chat.js';
import { connect } from '../../support/sockets.js';

describe('POST /chatroom/notification', () => {
  let author: Member;
  let asker: Member;
  let chatNo: number;
  let saleNo: number;

  beforeEach(async () => {
    ({ author, asker, chatNo, saleNo } = await openRoom());
  });

  it('stores and delivers as a socket send does, and fills every field', async () => {
    const theirs = await connect(author);
    await theirs.join(chatNo);
    const answer = await asker.post<Record<string, unknown>>(
      '/chatroom/notification',
      push(chatNo, saleNo, 'hi'),
    );
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
    const list = await asker.get<{ chatList: unknown[] }>(`/chatroom/${chatNo}`);
    expect(list.body.chatList).to.have.length(1);
  });

  it('takes what differs in time, type, text or sender for another message', async () => {
    const first = push(chatNo, saleNo, 'https://example.org/cat.png', { sendTime: Date.now() });
    const counted = async () => [
      (await metrics.messagesStored.get()).values[0]?.value ?? 0,
      (await metrics.messagesRepeated.get()).values.find(({ labels }) => labels.kind === 'key')?.value ?? 0,
    ];
    const [stored = 0, repeated = 0] = await counted();
    const ids = new Set<string>();
    for (const body of [
      first,
      { ...first, sendTime: Date.now() + 1_000, saleNo: null },
      { ...first, contentType: 'image' },
      { ...first, content: 'https://example.org/dog.png' },
      first,
      // A retry, and no broadcast come back: what a sender says of itself changes nothing.
      { ...first, senderNo: asker.no, senderEmail: asker.email },
    ]) {
      ids.add((await asker.post<{ id: string }>('/chatroom/notification', body)).body.id);
    }
    ids.add((await author.post<{ id: string }>('/chatroom/notification', first)).body.id);
    expect([...ids]).to.have.length(5);
    expect(await counted()).to.deep.equal([stored + 5, repeated + 2]);
  });

  const contents = async () =>
    (await asker.get<{ chatList: { content: string }[] }>(`/chatroom/${chatNo}`)).body.chatList.map(
      ({ content }) => content,
    );

  it('takes its numbers as text of digits, a retry among them', async () => {
    const sendTime = Date.now();
    const first = await asker.post<{ id: string }>(
      '/chatroom/notification',
      push(chatNo, saleNo, 'once', { sendTime }),
    );
    const asText = { chatNo: `${chatNo}`, saleNo: `${saleNo}`, sendTime: `${sendTime}` };
    const again = await asker.post('/chatroom/notification', push(chatNo, saleNo, 'once', asText));
    expect(again.body).to.deep.equal(first.body);
    expect(await contents()).to.deep.equal(['once']);
  });

  it('takes two pushes with the same text for two messages where sendTime is no plausible moment', async () => {
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
      const refused = await asker.post<{ errors: string[] }>(
        '/chatroom/notification',
        push(chatNo, saleNo, 'x', { sendTime }),
      );
      expect(refused.status, `sendTime ${sendTime}`).to.equal(400);
      expect(refused.body.errors[0]).to.match(/^sendTime: must /);
    }
  });

  it('answers a broadcast that is posted back with the stored message, without a token', async () => {
    const first = await asker.post<{ id: string }>('/chatroom/notification', push(chatNo, saleNo, 'echo me'));
    const copy = { ...first.body, content: 'altered', senderEmail: author.email, sendTime: '2022-08-01' };
    const echoes = await Promise.all(
      [1, 2, 3].map(() =>
        call('/chatroom/notification', { method: 'POST', json: copy, headers: { 'User-Agent': 'echo' } }),
      ),
    );
    for (const echo of echoes) expect(echo.body).to.deep.equal(first.body);
    const list = await asker.get<{ chatList: unknown[] }>(`/chatroom/${chatNo}`);
    expect(list.body.chatList).to.have.length(1);
    expect(await timesNotified(author, asker, chatNo, saleNo)).to.equal(1);
    const elsewhere = await call<{ message: string }>('/chatroom/notification', {
      method: 'POST',
      json: { ...copy, id: '0190-unknown' },
    });
    expect(elsewhere.body.message).to.equal('MESSAGE_NOT_FOUND');
    const other = await openRoom();
    const inAnother = await call('/chatroom/notification', {
      method: 'POST',
      json: { ...copy, chatNo: other.chatNo, saleNo: other.saleNo },
    });
    expect(inAnother.status).to.equal(404);
  });

  it('takes an empty address of the sender for none', async () => {
    const sent = await asker.post<{ senderEmail: string }>(
      '/chatroom/notification',
      push(chatNo, saleNo, 'hi', { senderEmail: '' }),
    );
    expect([sent.status, sent.body.senderEmail]).to.deep.equal([200, asker.email]);
  });

  it('knows a sender without a token by the session cookie, else by the same client', async () => {
    const anonymous = (headers: Record<string, string>, more: object = {}) =>
      call<{ senderNo: number }>('/chatroom/notification', {
        method: 'POST',
        json: push(chatNo, saleNo, `from ${JSON.stringify(headers)}`, more),
        headers,
      });
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

  it('tells somebody who is not known nothing of a room, with an id or without', async () => {
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
          call<{ errors: string[] }>('/chatroom/notification', {
            method: 'POST',
            json: push(no, saleNo, 'x', more),
            headers: { 'User-Agent': 'never seen before' },
          }),
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
    expect((await stranger.post('/chatroom/notification', push(chatNo, saleNo, 'x'))).status).to.equal(403);
    const sale = await asker.post<{ errors: string[] }>(
      '/chatroom/notification',
      push(chatNo, saleNo + 1, 'x'),
    );
    expect(sale.status).to.equal(400);
    expect(sale.body.errors[0]).to.match(/^saleNo/);
    expect((await asker.post('/chatroom/notification', push(999_999, saleNo, 'x'))).status).to.equal(404);
  });
});
