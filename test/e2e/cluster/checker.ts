import { expect } from 'chai';
import type { MessagePayload as Message } from '../../../domain/kernel/live.js';
import type { ClusterMember, ClusterRoom } from '../../support/cluster-members.js';
import { eventually } from '../../support/eventually.js';
import { connect } from '../../support/sockets.js';

/** What one client shows of one room. */
export interface View {
  readonly name: string;
  readonly chatNo: number;
  readonly messages: Message[];
  /** Number of the last message shown. */
  readonly last: number;
  /** Messages shown out of order or twice; empty unless the service is at fault. */
  readonly faults: string[];
  show(message: Message): void;
}

/**
 * Decides from what clients sent and received whether the promises were kept: an acknowledged message stays readable;
 * none is stored twice; numbers are 1..n; every view is the room in order, without gap or repeat; unread are the
 * other's messages after the read position.
 */
export interface Checker {
  /** A message is about to be sent; its content is unique. */
  asked(chatNo: number, content: string): void;
  /** It was acknowledged with this stored message. */
  acked(content: string, message: Message): void;
  /** Everything acknowledged so far, by content. */
  readonly answers: ReadonlyMap<string, Message>;
  view(name: string, chatNo: number): View;
  /**
   * Checks one room, and waits for its views to be complete.
   * @param gateway that the room is read from
   * @param cursors read position by member number, where the test knows it
   */
  verify(room: ClusterRoom, gateway: string, cursors?: Record<number, number>): Promise<Message[]>;
}

/** All messages of a room as a fresh client sees them; joining marks them read. */
async function readRoom(who: ClusterMember, chatNo: number, gateway: string): Promise<Message[]> {
  const client = await connect(who, {}, gateway);
  const messages: Message[] = [];
  for (;;) {
    const answer = await client.join<{ messages: Message[]; more: boolean }>(
      chatNo,
      messages.at(-1)?.seq ?? 0,
    );
    expect(answer.status).to.equal(200);
    messages.push(...answer.messages);
    if (!answer.more) break;
  }
  client.socket.disconnect();
  return messages;
}

/** All messages of a room over REST, page by page, oldest first. */
async function listRoom(who: ClusterMember, chatNo: number): Promise<{ id: string; content: string }[]> {
  const all: { id: string; content: string }[] = [];
  for (;;) {
    const before = all[0] ? `&before=${all[0].id}` : '';
    const { status, body } = await who.get<{ chatList: typeof all }>(
      `/chatroom/${chatNo}?limit=1000${before}`,
    );
    expect(status).to.equal(200);
    // Fewer than the limit may come: a page ends at 4 MiB, too.
    if (body.chatList.length === 0) return all;
    all.unshift(...body.chatList);
  }
}

/** A member's unread count is the number of the other's messages after the read position. */
async function expectUnread(
  chatNo: number,
  who: ClusterMember,
  other: ClusterMember,
  cursor: number,
  gateway: string,
): Promise<void> {
  const { body } = await who.get<{ chatNo: number; unReadCount: number }[]>('/chatroom');
  // Reading as the other member leaves this one's read position unchanged.
  const messages = await readRoom(other, chatNo, gateway);
  const unread = messages.filter(({ seq, senderNo }) => seq > cursor && senderNo === other.no);
  const listed = body.find((room) => room.chatNo === chatNo)?.unReadCount;
  expect(listed, `unread messages of member ${who.no}`).to.equal(unread.length);
}

function createView(name: string, chatNo: number): View {
  const messages: Message[] = [];
  const faults: string[] = [];
  return {
    name,
    chatNo,
    messages,
    faults,
    get last() {
      return messages.at(-1)?.seq ?? 0;
    },
    show(message) {
      const last = messages.at(-1)?.seq ?? 0;
      if (message.seq !== last + 1) faults.push(`${name}: number ${message.seq} follows ${last}`);
      messages.push(message);
    },
  };
}

const brief = ({ seq, id, content }: Message) => `${seq} ${id} ${content}`;

export function createChecker(): Checker {
  const askedIn = new Map<number, Set<string>>();
  const answers = new Map<string, Message>();
  const views: View[] = [];

  return {
    answers,

    asked(chatNo, content) {
      askedIn.set(chatNo, (askedIn.get(chatNo) ?? new Set()).add(content));
    },

    acked(content, message) {
      const before = answers.get(content);
      if (before)
        expect(brief(message), 'a retry is answered with the first message').to.equal(brief(before));
      answers.set(content, message);
    },

    view(name, chatNo) {
      const view = createView(name, chatNo);
      views.push(view);
      return view;
    },

    async verify({ chatNo, author, asker }, gateway, cursors = {}) {
      for (const [who, other] of [
        [author, asker],
        [asker, author],
      ] as const) {
        const cursor = cursors[who.no];
        if (cursor !== undefined) await expectUnread(chatNo, who, other, cursor, gateway);
      }
      const truth = await readRoom(author, chatNo, gateway);
      expect(truth.map(({ seq }) => seq)).to.deep.equal(truth.map((_, i) => i + 1));
      for (const who of [author, asker]) {
        const listed = await listRoom(who, chatNo);
        expect(listed.map(({ id, content }) => `${id} ${content}`)).to.deep.equal(
          truth.map(({ id, content }) => `${id} ${content}`),
        );
      }
      const contents = truth.map(({ content }) => content);
      expect(new Set(contents).size, 'nothing is stored twice').to.equal(contents.length);
      const asked = askedIn.get(chatNo) ?? new Set();
      expect(contents.filter((content) => !asked.has(content))).to.deep.equal([]);
      const stored = new Map(truth.map((message) => [message.content, message]));
      for (const [content, message] of answers) {
        if (message.chatNo !== chatNo) continue;
        expect(stored.has(content), `acknowledged and lost: ${content}`).to.equal(true);
        expect(brief(message)).to.equal(brief(stored.get(content) as Message));
      }
      for (const view of views.filter((one) => one.chatNo === chatNo)) {
        await eventually(() => {
          expect(view.faults).to.deep.equal([]);
          expect(view.last, `${view.name} has everything`).to.be.at.least(truth.length);
        }, 12_000);
        expect(view.messages.slice(0, truth.length).map(brief), view.name).to.deep.equal(truth.map(brief));
      }
      return truth;
    },
  };
}
