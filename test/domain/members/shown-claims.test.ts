import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { systemClock } from '../../../domain/kernel/clock.js';
import { createMembers } from '../../../domain/members/index.js';
import { Member } from '../../../domain/members/member.model.js';
import { createMemberDirectory } from '../../../domain/members/member-directory.js';
import { shownName, shownPicture } from '../../../domain/members/shown-claims.js';
import { createLogger } from '../../../domain/platform/observe/logger.js';
import { type Member as ApiMember, anyone, member } from '../../support/api.js';
import { adoptionPost, openChat } from '../../support/chat.js';
import { interceptCalls } from '../../support/database-calls.js';
import { service } from '../../support/service.js';
import { closeSockets, connect } from '../../support/sockets.js';
import { closeStreams, openStream } from '../../support/streams.js';

/** What an app makes of a name that it cuts at three UTF-16 units. */
const CUT = '나비🐈'.slice(0, 3);
const SHOWN = '나비\uFFFD';

/** Fails if a text, or any text in a value, cannot be UTF-8. */
function expectWellFormed(raw: string): void {
  const check = (value: unknown): void => {
    if (typeof value === 'string') expect(value.isWellFormed(), JSON.stringify(value)).to.equal(true);
    else if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) check(one);
  };
  check(JSON.parse(raw));
}

describe('a name that others see', () => {
  const cases: [what: string, name: string, shown: string | undefined][] = [
    ['is kept', '나비', '나비'],
    ['loses blanks around it', '  Bori ', 'Bori'],
    ['is made well-formed', CUT, SHOWN],
    ['loses control characters', 'a\u0000b\u001b[31mc\u0085\r\nd', 'ab[31mcd'],
    ['loses line and paragraph separators', 'a\u2028b\u2029', 'ab'],
    [
      'loses characters that change the direction of text',
      '\u202eirob\u202c \u2066\u2067\u2068x\u2069\u200e\u200f\u061c\u202a\u202b\u202d',
      'irob x',
    ],
    ['keeps text that runs from right to left', 'בורי', 'בורי'],
    ['keeps the joiners of emoji', '👨‍👩‍👧', '👨‍👩‍👧'],
    ['keeps 50 emoji', '🐈'.repeat(50), '🐈'.repeat(50)],
    ['is cut to 50 code points', '🐈'.repeat(51), `${'🐈'.repeat(49)}…`],
    ['is cut between graphemes', `${'n'.repeat(47)}👨‍👩‍👧`, `${'n'.repeat(47)}…`],
    ['keeps its form', '한글'.normalize('NFD'), '한글'.normalize('NFD')],
    ['is none if nothing is left', ' \u0000\u202e ', undefined],
  ];
  for (const [what, name, shown] of cases) it(what, () => expect(shownName(name)).to.equal(shown));
});

describe('a picture that others see', () => {
  const cases: [what: string, address: string, shown: string | undefined][] = [
    ['is kept', 'https://example.org/a.png', 'https://example.org/a.png'],
    ['is made well-formed', `/p/${CUT}`, `/p/${SHOWN}`],
    ['may have 2,048 code points', '🐈'.repeat(2_048), '🐈'.repeat(2_048)],
    ['is none if it is longer', '🐈'.repeat(2_049), undefined],
    ['is none with another scheme', ' javascript:alert(1)', undefined],
    ['is none if it is blank', ' ', undefined],
  ];
  for (const [what, address, shown] of cases) it(what, () => expect(shownPicture(address)).to.equal(shown));
});

describe('ill-formed claims', () => {
  let cut: ApiMember;
  let other: ApiMember;

  before(async () => {
    cut = await member({ nickname: CUT, profile: `/p/${CUT}` });
    other = await member();
  });
  after(() => {
    closeSockets();
    closeStreams();
  });

  it('leave every view, socket and stream well-formed', async () => {
    const reader = await connect(other);
    const stream = await openStream(other);
    const saleNo = await adoptionPost(other);
    const chatNo = await openChat(cut, saleNo, other.no);
    const sent = await cut.post('/chatroom/notification', {
      chatNo,
      saleNo,
      contentType: 'text',
      content: 'hi',
    });
    expect(sent.body).to.include({ senderName: SHOWN });
    const draft = { categoryId: 3, title: 'Title', context: 'Text', imageList: [] };
    await other.post('/community/article', draft);
    const [article] = (await anyone.get<{ list: { id: number }[] }>('/community/list/recent?size=1')).body
      .list;
    await cut.post('/community/comment', { boardId: article?.id, parentId: 0, context: 'Text' });
    await cut.post('/community/article', draft);
    const [own] = (await anyone.get<{ list: { id: number }[] }>('/community/list/recent?size=1')).body.list;
    const views: [ApiMember, string][] = [
      [cut, '/me'],
      [other, '/community/list/recent'],
      [other, `/community/article/${own?.id}`],
      [other, `/community/comment/${article?.id}`],
      [other, '/chatroom'],
      [other, `/chatroom/${chatNo}`],
      [other, '/notification/all'],
    ];
    for (const [who, path] of views) {
      const { text } = await who.get(path);
      expect(text, path).to.include('나비');
      expectWellFormed(text);
    }
    const { body: detail } = await anyone.get<{ header: object }>(`/community/article/${own?.id}`);
    expect(detail.header).to.include({ username: SHOWN, profile: `/p/${SHOWN}` });
    const room = await reader.next<{ participant: object }>('room');
    expect(room.participant).to.deep.equal({ username: SHOWN, profile: `/p/${SHOWN}` });
    const told = await reader.next<{ name: string }>('notification');
    expect(told.name).to.equal(SHOWN);
    expectWellFormed((await stream.next(({ data }) => data.startsWith('{'))).data);
    const unknown = await reader.ask(CUT, {});
    expectWellFormed(JSON.stringify(unknown));
    expect(unknown).to.deep.include({ message: 'UNKNOWN_EVENT', errors: [`no such event: ${SHOWN}`] });
  });

  it('are shown by another process as by this one', async () => {
    const here = (await service()).domain.members.directory;
    const elsewhere = createMemberDirectory();
    const shown = { nickname: SHOWN, profile: `/p/${SHOWN}` };
    for (const directory of [here, elsewhere])
      expect((await directory.lookUp([cut.no])).get(cut.no)).to.include(shown);
    expect(await Member.findById(cut.no).lean()).to.include(shown);
  });

  it('are stored once: the same token writes nothing again', async () => {
    const { config } = await service();
    const writes: string[] = [];
    const end = interceptCalls([Member], async (_, made, run) => {
      if (!['find', 'findOne'].includes(made)) writes.push(made);
      return run();
    });
    try {
      // Members of their own: this process has accepted the token, and would not look at it again.
      const { authenticate } = await createMembers(config, systemClock, createLogger('silent', 'test'));
      expect((await authenticate(cut.token)).actor).to.deep.equal(cut.actor);
    } finally {
      end();
    }
    expect(writes).to.deep.equal([]);
  });

  it('stored by an earlier version are shown as those of today', async () => {
    const email = `${randomUUID()}@example.org`;
    const { domain } = await service();
    const { no } = await domain.members.record({ email, nickname: 'old', issuedAt: 1 });
    await Member.updateOne(
      { _id: no },
      { $set: { nickname: 'a\u202eb\u0000', profile: 'javascript:alert(1)' } },
    );
    const [shown] = (await createMemberDirectory().lookUp([no])).values();
    expect(shown).to.include({ nickname: 'ab', profile: '' });
  });

  it('never show an address because a name is too long', async () => {
    const long = await member({ nickname: '긴 이름 '.repeat(20) });
    const { body } = await long.get<{ nickname: string }>('/me');
    expect(body.nickname).to.equal(`${'긴 이름 '.repeat(20).slice(0, 49)}…`);
  });
});
