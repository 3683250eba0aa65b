import { createBoard } from './board.js';
import { make } from './dom.js';
import { Pane } from './pane.js';
import { createPostMap } from './post-map.js';
import { otherPartyOf } from './room-list.js';
import { loadDemo } from './session.js';

const notice = document.querySelector('#notice');

function say(text) {
  notice.textContent = text;
  notice.hidden = text === '';
}

/** The two members to begin with: those in the URL's hash, else a pair with unread messages. */
async function firstPair({ members }, roomsOf) {
  const wanted = /^#(\d+)-(\d+)$/.exec(location.hash)?.slice(1).map(Number) ?? [];
  if (wanted.every((no) => members.some((member) => member.no === no)) && wanted.length === 2) {
    const room = (await roomsOf(members.find(({ no }) => no === wanted[0]))).find(
      (one) => otherPartyOf(one, wanted[0]) === wanted[1],
    );
    return { left: wanted[0], right: wanted[1], chatNo: room?.chatNo };
  }
  const [first, second] = members;
  const rooms = await roomsOf(first);
  const [room] = [...rooms].sort((a, b) => b.unReadCount - a.unReadCount);
  return room
    ? { left: first.no, right: otherPartyOf(room, first.no), chatNo: room.chatNo }
    : { left: first.no, right: (second ?? first).no };
}

async function start() {
  const demo = await loadDemo();
  if (demo.members.length === 0) {
    say('There are no sample members in this database: start with an empty one to see the demo.');
    return;
  }
  const gateway = `${location.protocol}//${location.hostname}:${demo.gatewayPort}`;
  const sessions = () => [left, right].map((pane) => pane.session);

  /** Opens the chat of two members about a post, on both sides. */
  async function startChat(session, saleNo, authorNo) {
    await session.post('/chatroom', { saleNo, createMember: authorNo });
    const [room] = await session.get(`/chatroom?saleNo=${saleNo}`);
    return room;
  }

  const page = {
    changed() {
      if (!left.session || !right.session) return;
      left.face(right);
      right.face(left);
      board.actorsChanged();
      map.actorsChanged();
      history.replaceState(null, '', `#${left.member.no}-${right.member.no}`);
    },

    /** Shows the subject of a notification. */
    follow(pane, url) {
      const [, article] = /^\/board\/(\d+)$/.exec(url) ?? [];
      const [, chat] = /^\/chat\/(\d+)/.exec(url) ?? [];
      if (article) void board.reveal(Number(article));
      if (chat) void pane.open(Number(chat));
    },

    async bring(pane, memberNo, chatNo) {
      const other = pane === left ? right : left;
      if (other.member.no === memberNo) await other.open(chatNo);
      else await other.choose(memberNo, chatNo);
    },

    /** The content of an empty chat: a link to the room of these two, or to a new one. */
    offer(pane, other) {
      const [me, them] = [pane.member, other.member];
      const common = pane.rooms.find((room) => otherPartyOf(room, me.no) === them.no);
      if (common) {
        const open = () => void pane.open(common.chatNo);
        return [
          make('p', {}, 'No room is open: messages arrive as notifications.'),
          make('button.primary', { type: 'button', click: open }, `Open the chat with ${them.nickname}`),
        ];
      }
      const [asker, author] = them.posts.length > 0 ? [pane, other] : [other, pane];
      const [saleNo] = author.member.posts;
      if (me.no === them.no || saleNo === undefined) return [make('p', {}, 'Choose a chat.')];
      const begin = async () => {
        const room = await startChat(asker.session, saleNo, author.member.no);
        await Promise.all([left.open(room.chatNo), right.open(room.chatNo)]);
      };
      return [
        make('p', {}, 'These two have no chat yet.'),
        make(
          'button.primary',
          { type: 'button', click: () => void begin() },
          `Begin a chat with ${them.nickname}`,
        ),
      ];
    },
  };

  const left = new Pane(document.querySelector('#left'), 'left', demo, gateway, page);
  const right = new Pane(document.querySelector('#right'), 'right', demo, gateway, page);
  const board = createBoard(document.querySelector('#articles'), sessions);
  const map = createPostMap(document.querySelector('#posts'), sessions, async (session, post) => {
    const pane = session === left.session ? left : right;
    const author = demo.members.find(({ posts }) => posts.includes(post.id));
    if (!author) throw new Error('The author of this post is no sample member.');
    const room = await startChat(session, post.id, author.no);
    await pane.open(room.chatNo);
    await page.bring(pane, author.no, room.chatNo);
    document.querySelector('#chat').scrollIntoView();
  });

  const pair = await firstPair(demo, async ({ token }) => {
    const answer = await fetch('/chatroom', { headers: { Authorization: token } });
    return answer.json();
  });
  await Promise.all([left.choose(pair.left, pair.chatNo), right.choose(pair.right, pair.chatNo)]);
  await Promise.all([board.load(), map.load()]);
  document.body.dataset.ready = 'true';
}

// Failures of click handlers are shown here.
addEventListener('unhandledrejection', ({ reason }) => say(reason?.message ?? String(reason)));

start().catch((error) => {
  console.error(error);
  say(`The demo could not start: ${error.message}`);
});
