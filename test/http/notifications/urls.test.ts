import { expect } from 'chai';
import { type Member, member } from '../../support/api.js';
import { DRAFT } from '../../support/community.js';
import { writeElsewhere } from '../../support/notifications.js';
import { service } from '../../support/service.js';
import { connect } from '../../support/sockets.js';
import { openStream } from '../../support/streams.js';

interface Record {
  type: string;
  url: string;
}

const listed = async (who: Member) => (await who.get<Record[]>('/notification/all')).body;

describe('the url of a notification', () => {
  it('begins with a slash everywhere, even if stored without', async () => {
    const { domain } = await service();
    const who = await member();
    const [socket, stream] = [await connect(who), await openStream(who)];
    await stream.next();
    const note = { memberNo: who.no, type: 'note', content: 'relative', originNo: 0 } as const;
    await domain.notifications.notify({ ...note, url: 'note/1', cause: 'relative' });
    const [shown] = await listed(who);
    expect(shown).to.include({ url: '/note/1' });
    expect(await socket.next<Record>('notification')).to.deep.equal(shown);
    const live = await stream.next(({ id }) => id === `${who.no}_1`);
    expect(JSON.parse(live.data)).to.deep.equal(shown);
    const replay = await openStream(who, { lastEventId: `${who.no}_0` });
    const replayed = await replay.next(({ id }) => id === `${who.no}_1`);
    expect(JSON.parse(replayed.data)).to.deep.equal(shown);
  });

  it('begins with a slash, too, if another process wrote it, or if it is empty', async () => {
    const who = await member();
    const socket = await connect(who);
    await writeElsewhere([{ memberNo: who.no, n: 1, content: 'to the first page', url: '' }]);
    expect((await socket.next<Record>('notification')).url).to.equal('/');
  });

  it('leads to the article of a comment and of a reply', async () => {
    const { domain } = await service();
    const [author, other] = [await member(), await member()];
    const articleId = await domain.community.createArticle(author.actor, DRAFT);
    const draft = { articleId, context: 'Text' };
    const parentId = await domain.community.createComment(other.actor, { ...draft, parentId: 0 });
    await domain.community.createComment(author.actor, { ...draft, parentId });
    const notified = [...(await listed(author)), ...(await listed(other))];
    expect(notified.map(({ type, url }) => [type, url])).to.deep.equal([
      ['comment', `/board/${articleId}`],
      ['recomment', `/board/${articleId}`],
    ]);
  });
});
