import { Message } from '../../domain/chat/message.model.js';
import { Room } from '../../domain/chat/room.model.js';
import type { Domain } from '../../domain/domain.js';
import type { Actor } from '../../domain/kernel/actor.js';
import { timesNotified, twoMembers } from './community.js';
import { useCase } from './use-case.js';

interface Chat {
  author: Actor;
  asker: Actor;
  saleNo: number;
  chatNo: number;
  sendTime: number;
}

const POST = {
  title: 'Bori',
  name: 'Bori',
  age: '2',
  kind: 'dog',
  latitude: 37,
  longitude: 127,
  thumbnail: '',
};

/** Two members and an adoption post of the first. */
async function post(domain: Domain): Promise<Omit<Chat, 'chatNo'>> {
  const [author, asker] = await twoMembers(domain);
  const saleNo = await domain.adoption.savePost({ ...POST, authorNo: author.no });
  return { author, asker, saleNo, sendTime: Date.now() };
}

/** Their room, with this many messages of the one who asks. */
async function room(domain: Domain, messages = 0): Promise<Chat> {
  const chat = await post(domain);
  const { asker, author, saleNo } = chat;
  const chatNo = await domain.chat.createRoom(asker, { saleNo, createMember: author.no });
  for (let i = 0; i < messages; i += 1) await domain.chat.sendMessage(asker, { chatNo, ...text(`old ${i}`) });
  return { ...chat, chatNo };
}

const text = (content: string) => ({ contentType: 'text' as const, content });

/** By a socket, under a client key. */
const send = (domain: Domain, { asker, chatNo }: Chat) =>
  domain.chat.sendMessage(asker, { chatNo, ...text('new'), clientKey: 'socket:1' });

/** By the legacy push call, whose repetition has the same time. */
const push = (domain: Domain, { asker, chatNo, saleNo, sendTime }: Chat) =>
  domain.chat.pushMessage({ actor: asker }, { chatNo, saleNo, ...text('new'), sendTime }, async () => {});

/** The recipient opens the room and is present. */
const open = (domain: Domain, { author, chatNo }: Chat) =>
  domain.chat.enterRoom(author, chatNo, {}, 'socket');

/** One message, whatever was repeated: that of every answer, and announced once or not at all. */
async function sent({ chatNo, author }: Chat, acked: { id: string }[]) {
  const messages = await Message.find({ chatNo }).sort({ seq: 1 }).lean();
  const [newest] = messages.slice(-1);
  return {
    seqs: messages.map(({ seq }) => seq),
    others: acked.filter(({ id }) => id !== newest?._id).length,
    notified: await timesNotified(author.no, `message:${newest?._id}`),
    unannounced: messages.filter(({ unannounced }) => unannounced).length,
    read: newest?.read.creator.seq,
  };
}

const sendRows = (
  [
    ['chat.sendMessage', send],
    ['chat.pushMessage', push],
  ] as const
).flatMap(([name, act]) => [
  useCase<Chat, { id: string }>({
    name,
    what: 'to an absent recipient',
    prepare: (domain) => room(domain, 1),
    act,
    stored: sent,
    expected: { seqs: [1, 2], others: 0, notified: [1], unannounced: 0, read: 0 },
  }),
  useCase<Chat, { id: string }>({
    name,
    what: 'to a recipient who is present',
    prepare: (domain) => room(domain),
    async act(domain, records) {
      await open(domain, records);
      return act(domain, records);
    },
    stored: sent,
    expected: { seqs: [1], others: 0, notified: [0], unannounced: 0, read: 1 },
  }),
]);

const READERS: [name: string, what: string, read: (domain: Domain, records: Chat) => Promise<unknown>][] = [
  ['chat.enterRoom', 'with unread messages', open],
  ['chat.markRead', '', (domain, { author, chatNo }) => domain.chat.markRead(author, chatNo, 2)],
  [
    'chat.listMessages',
    'with unread ones among them',
    (domain, { author, chatNo }) => domain.chat.listMessages(author, chatNo, {}),
  ],
];

export const chatRows = [
  useCase<Omit<Chat, 'chatNo'>, number>({
    name: 'chat.createRoom',
    what: '',
    prepare: post,
    act: (domain, { asker, author, saleNo }) =>
      domain.chat.createRoom(asker, { saleNo, createMember: author.no }),
    async stored({ saleNo }, acked) {
      const rooms = await Room.find({ saleNo }).lean();
      return [rooms.length, acked.filter((no) => no !== rooms[0]?._id)];
    },
    expected: [1, []],
  }),
  ...sendRows,
  ...READERS.map(([name, what, read]) =>
    useCase<Chat, unknown>({
      name,
      what,
      prepare: (domain) => room(domain, 2),
      act: read,
      async stored({ chatNo }) {
        const { read: positions } = (await Room.findById(chatNo).lean()) ?? {};
        return positions?.creator;
      },
      expected: { seq: 2, others: 2 },
    }),
  ),
];
