import { expect } from 'chai';
import type { MessagePayload as Message, NotificationView, RoomView } from '../../../domain/kernel/live.js';
import type { Member } from '../../support/api.js';
import { pushTo } from '../../support/chat.js';
import { eventually } from '../../support/eventually.js';
import { createRandom } from '../../support/random.js';
import type { Client } from '../../support/sockets.js';
import type { EventStream } from '../../support/streams.js';

/** The parts of a member that the story uses. */
export type StoryMember = Pick<Member, 'no' | 'token' | 'get' | 'post' | 'delete'>;

/** The service under test, in one process or several. */
export interface World<M extends StoryMember> {
  member(): Promise<M>;
  /** A room of two members about a post by the first, another post for each room. */
  openRoom(author: M, asker: M): Promise<{ chatNo: number; saleNo: number }>;
  connect(who: M): Promise<Client>;
  openStream(who: M): Promise<EventStream>;
}

/** A member with a socket that comes and goes, a stream that stays open, and what both have delivered. */
interface Person<M extends StoryMember> {
  who: M;
  client: Client | undefined;
  stream: EventStream;
  /** The messages that this client shows of each room. */
  screens: Map<number, Message[]>;
  joined: Set<number>;
  /** The room list according to `room` events. */
  list: Map<number, RoomView>;
}

/** Steps of one run: enough for every pair of actions, few enough for seconds. */
const STEPS = 300;

/**
 * Plays random actions of three members, three at a time, then compares REST, sockets and event streams: acknowledged
 * messages are readable, once, in one order; an old state plus events equals the fresh state.
 */
export async function tellStory<M extends StoryMember>(world: World<M>): Promise<void> {
  const random = createRandom('STORY_SEED');
  const people: Person<M>[] = [];
  for (let i = 0; i < 3; i += 1) {
    const who = await world.member();
    people.push({
      who,
      client: undefined,
      stream: await world.openStream(who),
      screens: new Map(),
      joined: new Set(),
      list: new Map(),
    });
  }
  const rooms = await openRooms(
    world,
    people.map(({ who }) => who),
  );
  /** Acknowledged messages of each room: content by id. */
  const acked = new Map<number, Map<string, string>>(rooms.map(({ chatNo }) => [chatNo, new Map()]));
  const [first] = people.map(({ who }) => who) as [M];
  const article = await publish(first);
  const hearts = new Set<number>();
  let comments = 0;
  let key = 0;

  const roomOf = ({ who }: Person<M>) => random.pick(rooms.filter(({ members }) => members.includes(who.no)));

  async function arrive(person: Person<M>): Promise<void> {
    if (person.client) return;
    const client = await world.connect(person.who);
    person.client = client;
    client.socket.on('message', (message: Message) => show(person, message));
    client.socket.on('room', (view: RoomView) => person.list.set(view.chatNo, view));
    // As a client does after reconnecting.
    const { body } = await person.who.get<RoomView[]>('/chatroom');
    for (const view of body) if (!person.list.has(view.chatNo)) person.list.set(view.chatNo, view);
  }

  function show(person: Person<M>, message: Message): void {
    if (!person.joined.has(message.chatNo)) return;
    const screen = person.screens.get(message.chatNo) ?? [];
    person.screens.set(message.chatNo, screen);
    expect(message.seq, 'in order, without gap or repeat').to.equal((screen.at(-1)?.seq ?? 0) + 1);
    screen.push(message);
  }

  /** Shows missed messages in the acknowledgement's callback: a live message may follow in the same chunk. */
  function enter(person: Person<M>, chatNo: number): Promise<void> {
    const after = person.screens.get(chatNo)?.at(-1)?.seq ?? 0;
    return new Promise((resolve) => {
      person.client?.socket.emit('room:join', { chatNo, after }, (answer: { messages: Message[] }) => {
        for (const message of answer.messages) show(person, message);
        resolve();
      });
    });
  }

  const actions: Record<string, (person: Person<M>) => Promise<void>> = {
    async join(person) {
      await arrive(person);
      const { chatNo } = roomOf(person);
      if (person.joined.has(chatNo)) return;
      person.joined.add(chatNo);
      await enter(person, chatNo);
    },
    async leave(person) {
      const chatNo = [...person.joined][0];
      if (!person.client || chatNo === undefined) return;
      await person.client.ask('room:leave', { chatNo });
      person.joined.delete(chatNo);
    },
    async vanish(person) {
      person.client?.socket.disconnect();
      person.client = undefined;
      person.joined.clear();
      person.list.clear();
    },
    async sendBySocket(person) {
      await arrive(person);
      const { chatNo } = roomOf(person);
      key += 1;
      const content = `s${key}`;
      const times = random.below(4) === 0 ? 2 : 1;
      const answers = await Promise.all(
        Array.from({ length: times }, () =>
          person.client?.send<{ message: Message }>(chatNo, content, `k${key}`),
        ),
      );
      for (const answer of answers) acked.get(chatNo)?.set(answer?.message.id as string, content);
    },
    async sendByPush(person) {
      const room = roomOf(person);
      key += 1;
      const content = `p${key}`;
      const { body } = await pushTo<Message>(room, person.who, content, { sendTime: key });
      acked.get(room.chatNo)?.set(body.id, content);
      if (random.below(3) === 0) {
        const echo = await random.pick(people).who.post<Message>('/chatroom/notification', body);
        expect(echo.body.id).to.equal(body.id);
      }
    },
    async readOverRest(person) {
      const { chatNo } = roomOf(person);
      await person.who.get(`/chatroom/${chatNo}`);
    },
    async readBySocket(person) {
      await arrive(person);
      const { chatNo } = roomOf(person);
      await person.client?.ask('message:read', { chatNo, seq: random.below(40) });
    },
    async heart(person) {
      const path = `/community/heart/article/${article}`;
      const given = hearts.has(person.who.no);
      const answer = given
        ? await person.who.delete<{ data: number }>(path)
        : await person.who.post<{ data: number }>('/community/heart', { target: 'article', id: article });
      if (given) hearts.delete(person.who.no);
      else hearts.add(person.who.no);
      expect(answer.status).to.equal(200);
    },
    async comment(person) {
      comments += 1;
      const context = `comment ${comments}`;
      await person.who.post('/community/comment', { boardId: article, parentId: null, context });
    },
  };

  // Three at a time, so that actions overlap.
  for (let step = 0; step < STEPS; step += people.length) {
    await Promise.all(people.map((person) => actions[random.pick(Object.keys(actions))]?.(person)));
  }

  // All members connect again and open all of their rooms.
  for (const person of people) {
    await arrive(person);
    for (const { chatNo, members } of rooms) {
      if (!members.includes(person.who.no) || person.joined.has(chatNo)) continue;
      person.joined.add(chatNo);
      await enter(person, chatNo);
    }
  }

  for (const { chatNo, members } of rooms) {
    for (const person of people.filter(({ who }) => members.includes(who.no)))
      await compareMessages(person, chatNo, acked.get(chatNo) as Map<string, string>);
  }
  for (const person of people) {
    await compareRooms(person);
    // A send is answered before the recipient is notified.
    await eventually(() => compareNotifications(person));
  }

  const { body: detail } = await first.get<{ header: object }>(`/community/article/${article}`);
  expect(detail.header).to.include({ like: hearts.size, comment: comments });
}

interface OpenedRoom {
  chatNo: number;
  saleNo: number;
  members: number[];
}

/** A room for each pair of members. */
async function openRooms<M extends StoryMember>(world: World<M>, members: M[]): Promise<OpenedRoom[]> {
  const rooms: OpenedRoom[] = [];
  for (const [i, author] of members.entries()) {
    for (const asker of members.slice(i + 1)) {
      const room = await world.openRoom(author, asker);
      rooms.push({ ...room, members: [author.no, asker.no] });
    }
  }
  return rooms;
}

async function publish(author: StoryMember): Promise<number> {
  await author.post('/community/article', {
    categoryId: 1,
    title: 'A story',
    context: 'of three',
    imageList: [],
  });
  const { body } = await author.get<{ list: { id: number }[] }>('/community/list/recent?size=1');
  return body.list[0]?.id as number;
}

/** REST lists exactly the acknowledged messages, in the order that the client shows. */
async function compareMessages(
  { who, screens }: Person<StoryMember>,
  chatNo: number,
  acked: Map<string, string>,
): Promise<void> {
  const { body } = await who.get<{ chatList: Message[] }>(`/chatroom/${chatNo}`);
  expect(new Map(body.chatList.map(({ id, content }) => [id, content])), 'acked, once').to.deep.equal(acked);
  const brief = ({ id, content, senderNo }: Message) => [id, content, senderNo];
  expect((screens.get(chatNo) ?? []).map(brief)).to.deep.equal(body.chatList.map(brief));
}

/** The room list of the client is, or becomes, the one that REST answers. */
async function compareRooms({ who, client, list }: Person<StoryMember>): Promise<void> {
  const { body } = await who.get<RoomView[]>('/chatroom');
  for (const view of body) {
    expect(view.unReadCount, 'all messages are read').to.equal(0);
    const isView = (event: RoomView | undefined) => JSON.stringify(event) === JSON.stringify(view);
    // The last event may still be delayed by conflation.
    if (!isView(list.get(view.chatNo))) await client?.next<RoomView>('room', isView);
  }
}

/** The events of the stream, reduced as the list is, equal the list. */
async function compareNotifications({ who, stream }: Person<StoryMember>): Promise<void> {
  const { body: listed } = await who.get<NotificationView[]>('/notification/all');
  const newest = listed[0];
  if (newest) await stream.next(({ data }) => data.startsWith('{') && JSON.parse(data).id === newest.id);
  const events = stream.events.slice(1);
  expect(events.map(({ id }) => id)).to.deep.equal(events.map((_, i) => `${who.no}_${i + 1}`));
  const seen = new Set<string>();
  const reduced = events
    .map(({ data }) => JSON.parse(data) as NotificationView)
    .reverse()
    .filter(({ type, url }) => {
      if (type !== 'chat') return true;
      const first = !seen.has(url);
      seen.add(url);
      return first;
    });
  expect(reduced).to.deep.equal(listed);
}
