import { expect } from 'chai';
import { AdoptionPost } from '../../domain/adoption/adoption-post.model.js';
import type { RenderRecord } from '../../domain/adoption/index.js';
import { Message } from '../../domain/chat/message.model.js';
import { Article } from '../../domain/community/article.model.js';
import type { ArticleDetail, ArticleList } from '../../domain/community/index.js';
import { anyone, expectError, type Member, member } from '../support/api.js';
import { openRoom } from '../support/chat.js';
import { service } from '../support/service.js';
import { closeSockets, connect } from '../support/sockets.js';

const FAULT = 'must be an http(s) address, a path or a data URL of an image other than SVG';
const BAD = 'javascript:alert(1)';
const TAKEN = [
  'https://cdn.example.org/bori.jpg',
  'image/bori.jpg',
  '/image/bori.jpg',
  'data:image/png;base64,iVBORw0KGgo=',
  'NONE',
];

describe('the address of an image', () => {
  let author: Member;
  let categoryId: number;

  before(async () => {
    author = await member();
    categoryId = 1_000_000 + (Date.now() % 1_000_000_000);
  });
  after(closeSockets);

  const draft = (over: object) => ({ categoryId, title: 'Title', context: 'Text', ...over });

  async function newest() {
    const { body } = await anyone.get<ArticleList>(`/community/list/recent?size=1&categoryId=${categoryId}`);
    return body.list[0];
  }

  it('is none with another scheme, in a new article and in an edit', async () => {
    expect((await author.post('/community/article', draft({}))).body).to.deep.equal({ status: 200 });
    const edited = `/community/article/${(await newest())?.id}`;
    for (const [over, field] of [
      [{ thumbnail: BAD }, 'thumbnail'],
      [
        {
          imageList: [
            { id: 1, url: '/a.png' },
            { id: 2, url: ` ${BAD}` },
          ],
        },
        'imageList[1].url',
      ],
      [{ imageList: [{ id: 1, url: 'java\nscript:alert(1)' }] }, 'imageList[0].url'],
    ] as const) {
      for (const written of [author.post('/community/article', draft(over)), author.patch(edited, over)])
        await expectError(written, 400, 'INVALID_INPUT', `${field}: ${FAULT}`);
    }
  });

  it('is stored and shown as it was sent otherwise, by articles', async () => {
    for (const url of TAKEN) {
      const written = await author.post(
        '/community/article',
        draft({ thumbnail: url, imageList: [{ id: 1, url }] }),
      );
      expect(written.body, url).to.deep.equal({ status: 200 });
      const summary = await newest();
      expect(summary?.thumbnail).to.equal(url);
      const { body } = await anyone.get<ArticleDetail>(`/community/article/${summary?.id}`);
      expect(body.context.imageList).to.deep.equal([{ imageNo: 1, imageUrl: url }]);
    }
  });

  it('is the same in messages, by REST and by socket; the text of one is free', async () => {
    const { asker, chatNo, saleNo } = await openRoom();
    const client = await connect(asker);
    for (const contentType of ['image', 'picture']) {
      const push = (content: string) =>
        asker.post('/chatroom/notification', { chatNo, saleNo, contentType, content });
      const send = (content: string) => client.ask('message:send', { chatNo, contentType, content });
      await expectError(push(BAD), 400, 'INVALID_INPUT', `content: ${FAULT}`);
      expect(await send(BAD)).to.deep.include({ status: 400, errors: [`content: ${FAULT}`] });
      for (const content of TAKEN) {
        expect((await push(content)).body, content).to.include({ contentType, content });
        expect(await send(content)).to.include({ status: 200 });
      }
    }
    const text = await client.ask('message:send', { chatNo, contentType: 'text', content: BAD });
    expect(text).to.include({ status: 200 });
  });

  it('that only an earlier version accepted is not shown', async () => {
    const { asker, chatNo, saleNo } = await openRoom();
    const push = { chatNo, saleNo, contentType: 'image', content: '/a.png' };
    expect((await asker.post('/chatroom/notification', push)).status).to.equal(200);
    expect((await author.post('/community/article', draft({}))).status).to.equal(200);
    const _id = (await newest())?.id;
    const images = [
      { no: 1, url: BAD },
      { no: 2, url: '/b.png' },
    ];
    await Article.updateOne({ _id }, { $set: { thumbnail: BAD, images } });
    await Message.updateOne({ chatNo }, { $set: { content: BAD } });
    const post = await AdoptionPost.findById(saleNo).lean();
    if (!post) throw new Error(`no post ${saleNo}`);
    await (await service()).domain.adoption.savePost({ ...post, id: saleNo, thumbnail: BAD });

    expect((await newest())?.thumbnail).to.equal('NONE');
    const { body: article } = await anyone.get<ArticleDetail>(`/community/article/${_id}`);
    expect(article.context.imageList).to.deep.equal([{ imageNo: 2, imageUrl: '/b.png' }]);
    const { body: posts } = await anyone.get<RenderRecord[]>('/adopt/render');
    expect(posts.find(({ id }) => id === saleNo)?.thumbnail).to.equal('');
    const { body: room } = await asker.get<{ chatList: object[] }>(`/chatroom/${chatNo}`);
    expect(room.chatList).to.have.length(1);
    expect(room.chatList[0]).to.include({ contentType: 'image', content: '' });
    const joined = await (await connect(asker)).ask('room:join', { chatNo });
    expect((joined.messages as object[])[0]).to.include({ contentType: 'image', content: '' });
  });
});
