import { expect } from 'chai';
import { Article } from '../../domain/community/article.model.js';
import { Comment } from '../../domain/community/comment.model.js';
import type { ArticleList, CommentView } from '../../domain/community/index.js';
import { anyone, type Member, member } from '../support/api.js';
import { openRoom } from '../support/chat.js';
import { buildBoard } from '../support/community.js';
import { serveHttp } from '../support/http-server.js';
import { restClient } from '../support/rest.js';
import { service } from '../support/service.js';

const MIB = 1024 * 1024;

/** Three bytes each, six where JSON escapes it. */
const WIDE = '고';
const ESCAPED = '\u0001';

describe('lists of much or long content', () => {
  let me: Member;
  let numbers = 0;

  before(async () => {
    me = await member();
  });

  async function article(context = 'A text', categoryId = 1): Promise<number> {
    const { community } = (await service()).domain;
    return community.createArticle(me.actor, {
      categoryId,
      title: 'x',
      context,
      imageList: [],
      thumbnail: '',
    });
  }

  /** Stores comments that were written before there was a limit. */
  async function comments(articleId: number, count: number, context: string): Promise<void> {
    const first = 1_000_000 + articleId * 100_000;
    for (let i = 0; i < count; i += 1_000) {
      const records = Array.from({ length: Math.min(1_000, count - i) }, (_, j) => ({
        ...{ _id: first + i + j, articleId, parentId: 0, authorNo: me.no, context, state: 'live' },
        ...{ publishedAt: new Date(), hearts: 0 },
      }));
      await Comment.insertMany(records);
    }
    await Article.updateOne({ _id: articleId }, { $set: { comments: count } });
  }

  it('are no comments beyond a thousand of an article: 409, until one is deleted', async () => {
    const { community } = await buildBoard();
    const { server, base } = await serveHttp({}, { community });
    const writer = restClient(() => base, me.token);
    const boardId = await article();
    await comments(boardId, 999, 'Hi');
    const send = (more: object = {}) =>
      writer.post('/community/comment', { boardId, context: 'Hello', ...more });
    expect((await send()).status).to.equal(200);
    const refused = await send();
    expect(refused.body).to.deep.equal({
      status: 409,
      message: 'COMMENTS_FULL',
      errors: ['boardId: the article has 1000 comments'],
    });
    const { body } = await writer.get<CommentView[]>(`/community/comment/${boardId}`);
    expect(body).to.have.length(1_000);
    const parentId = body[0]?.id as number;
    expect((await send({ parentId })).status, 'a reply').to.equal(409);
    expect((await writer.delete(`/community/comment/${parentId}`)).status).to.equal(200);
    expect((await send()).status).to.equal(200);
    await server.drain();
  });

  it('of more comments than may be written end at 4 MiB', async () => {
    // Ten thousand made 62 MB, and blocked the event loop for 0.6 s.
    const id = await article();
    await comments(id, 2_500, WIDE.repeat(2_000));
    const { status, text, body } = await anyone.get<CommentView[]>(`/community/comment/${id}`);
    expect(status).to.equal(200);
    expect(Buffer.byteLength(text)).to.be.within(3.5 * MIB, 4 * MIB);
    expect(body.map((comment) => comment.id)).to.deep.equal(
      body.map((_, i) => 1_000_000 + id * 100_000 + i),
      'the oldest',
    );
  });

  it('of long articles hold all of a page, with the longest texts shortened', async () => {
    numbers += 1;
    const categoryId = 1_500_000_000 + (Date.now() % 100_000_000) + numbers;
    for (let i = 0; i < 50; i += 1) await article(i === 20 ? 'short' : WIDE.repeat(20_000), categoryId);
    const read = async (size: number) => {
      const path = `/community/list/recent?size=${size}&categoryId=${categoryId}`;
      const { text, body } = await anyone.get<ArticleList>(path);
      return { bytes: Buffer.byteLength(text), texts: body.list.map(({ context }) => context) };
    };
    const ten = await read(10);
    expect(ten.texts).to.deep.equal(Array.from({ length: 10 }, () => WIDE.repeat(20_000)));
    const fifty = await read(50);
    expect(fifty.bytes).to.be.below(MIB);
    expect(fifty.texts).to.have.length(50);
    expect(fifty.texts[29]).to.equal('short');
    for (const text of fifty.texts.filter((_, i) => i !== 29)) expect(text).to.match(/^고{4000,}…$/);
  });

  it('of messages end at 4 MiB; `before` lists the older ones', async () => {
    const { author, asker, chatNo } = await openRoom();
    const { chat } = (await service()).domain;
    const content = ESCAPED.repeat(5_000);
    for (let i = 0; i < 160; i += 1)
      await chat.sendMessage(author.actor, {
        chatNo,
        contentType: 'text',
        content: `${i}${content}`.slice(0, 5_000),
      });
    type Listed = { chatList: { id: string; content: string }[] };
    const seen: number[] = [];
    let pages = 0;
    for (let before = ''; seen.length < 160; pages += 1) {
      const { text, body } = await asker.get<Listed>(`/chatroom/${chatNo}${before && `?before=${before}`}`);
      expect(Buffer.byteLength(text)).to.be.below(4.01 * MIB);
      seen.unshift(...body.chatList.map((message) => Number.parseInt(message.content, 10)));
      before = body.chatList[0]?.id ?? '';
    }
    expect(pages).to.equal(2);
    expect(seen).to.deep.equal(Array.from({ length: 160 }, (_, i) => i));
  });
});
