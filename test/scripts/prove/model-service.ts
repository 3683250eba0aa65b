import type { SeenMessage, SeenNotification } from '../../../scripts/prove/history.js';

/** A message of the model: `read` by its recipient or not. */
export interface ModelMessage extends Required<Omit<SeenMessage, 'readCount' | 'type'>> {
  key: string;
  read: boolean;
}

export interface ModelComment {
  id: number;
  author: number;
  content: string;
  deleted: boolean;
  parent?: number;
  at: number;
}

export interface ModelRoom {
  no: number;
  members: [number, number];
  messages: ModelMessage[];
  /** Up to which number each member has read. */
  reads: Map<number, number>;
  /** Sockets in the room, with their member. */
  sockets: Map<string, number>;
  /** Rises with each message, over all rooms. */
  activeAt?: number;
  /** Whose it is, about what, if it was opened during the run; nobody writes in it. */
  opened?: { creator: number; joiner: number; saleNo: number; saleTitle: string };
}

/** A member's nickname. */
const nameOf = (member: number): string => `member ${member}`;

/** A service without faults, all in memory: what it answers is what the contract says. */
export class ModelService {
  readonly rooms: ModelRoom[];
  readonly inboxes = new Map<number, (SeenNotification & { n: number; deleted: boolean })[]>();
  readonly comments: ModelComment[] = [];
  /** By member and what they are of. */
  readonly hearts = new Set<string>();
  readonly bookmarks = new Set<number>();
  /** Called with each notification that is stored. */
  onNotified: (member: number, n: number, notification: SeenNotification) => void = () => {};
  readonly #now: () => number;
  readonly #opened: ModelRoom[] = [];
  #lastId = 0;
  #lastActivity = 0;

  /** @param now epoch ms */
  constructor(rooms: { room: number; creator: number; joiner: number }[], now: () => number) {
    this.#now = now;
    this.rooms = rooms.map(({ room, creator, joiner }) => ({
      ...{ no: room, members: [creator, joiner], messages: [], reads: new Map(), sockets: new Map() },
    }));
  }

  /** The room of a pair about a post: the one they have, or a new one. */
  open(opened: NonNullable<ModelRoom['opened']>): void {
    const { saleNo, joiner, creator } = opened;
    const isIt = (one: ModelRoom) => one.opened?.saleNo === saleNo && one.opened.joiner === joiner;
    if (this.#opened.some(isIt)) return;
    this.#lastActivity += 1;
    this.#opened.push({
      ...{ no: 100 + this.#opened.length, members: [creator, joiner], messages: [], reads: new Map() },
      ...{ sockets: new Map(), activeAt: this.#lastActivity, opened },
    });
  }

  room(no: number): ModelRoom {
    return this.rooms.find((room) => room.no === no) as ModelRoom;
  }

  isPresent(room: ModelRoom, member: number): boolean {
    return [...room.sockets.values()].includes(member);
  }

  present(room: ModelRoom): number[] {
    return [...new Set(room.sockets.values())].sort((a, b) => a - b);
  }

  other({ members: [a, b] }: ModelRoom, member: number): number {
    return member === a ? b : a;
  }

  inbox(member: number) {
    const inbox = this.inboxes.get(member) ?? [];
    this.inboxes.set(member, inbox);
    return inbox;
  }

  notify(member: number, from: number, type: string, content: string, url: string): void {
    this.#lastId += 1;
    const inbox = this.inbox(member);
    const n = inbox.length + 1;
    const at = Math.floor(this.#now() / 1_000) * 1_000;
    const name = nameOf(from);
    const notification = { id: this.#lastId, type, content, url, checked: false, name, at };
    inbox.push({ ...notification, n, deleted: false });
    this.onNotified(member, n, notification);
  }

  /** @returns the stored message, and whether it is new */
  send(room: ModelRoom, sender: number, key: string, content: string) {
    const known = room.messages.find((message) => message.key === key && message.sender === sender);
    if (known) return { message: known, isNew: false };
    const recipient = this.other(room, sender);
    const seq = room.messages.length + 1;
    const read = this.isPresent(room, recipient);
    const message = { id: `m${room.no}-${seq}`, seq, sender, content, key, read, at: this.#now() };
    room.activeAt = this.#lastActivity += 1;
    room.messages.push(message);
    if (read) room.reads.set(recipient, seq);
    if (!read) this.notify(recipient, sender, 'chat', content, `/chat/${room.no}?adoptId=${room.no}`);
    return { message, isNew: true };
  }

  /** @returns whether anything was unread */
  markRead(room: ModelRoom, reader: number): boolean {
    const unread = room.messages.filter(({ sender, read }) => sender !== reader && !read);
    for (const message of unread) message.read = true;
    if (unread.length > 0) room.reads.set(reader, room.messages.length);
    return unread.length > 0;
  }

  state(room: ModelRoom, member: number) {
    const unread = room.messages.filter(({ sender, read }) => sender !== member && !read).length;
    const latest = room.messages.at(-1);
    const { content, at } = latest ?? {};
    return { room: room.no, unread, since: 0, ...(latest ? { latest: content, latestAt: at } : {}) };
  }

  /** The member's rooms, latest activity first. */
  roomsOf(member: number, withOpened = false): ModelRoom[] {
    return [...this.rooms, ...(withOpened ? this.#opened : [])]
      .filter(({ members }) => members.includes(member))
      .sort((a, b) => (b.activeAt ?? 0) - (a.activeAt ?? 0) || b.no - a.no);
  }

  /** Changes a notification and the older ones of its room. */
  change(member: number, id: number, change: { checked: true } | { deleted: true }): void {
    const inbox = this.inbox(member);
    const chosen = inbox.find((one) => one.id === id);
    for (const one of inbox) {
      const isOlder = chosen?.type === 'chat' && one.url === chosen.url && one.n < chosen.n;
      if (one === chosen || isOlder) Object.assign(one, change);
    }
  }

  /** How many hearts something has. */
  likes(key: string): number {
    return [...this.hearts].filter((one) => one.endsWith(` of ${key}`)).length;
  }

  /** A deleted comment is listed, without its text, while it has live replies; these follow it. */
  listComments() {
    const isLive = ({ deleted }: ModelComment) => !deleted;
    return this.comments
      .toSorted((a, b) => (a.parent ?? a.id) - (b.parent ?? b.id) || a.id - b.id)
      .filter((one) => isLive(one) || this.comments.some((reply) => reply.parent === one.id && isLive(reply)))
      .map((one) => ({
        ...one,
        content: one.deleted ? '' : one.content,
        likes: this.likes(`comment ${one.id}`),
      }));
  }

  list(member: number): SeenNotification[] {
    const urls = new Set<string>();
    return [...this.inbox(member)]
      .reverse()
      .filter(({ type, url, deleted }) => {
        if (deleted || (type === 'chat' && urls.has(url))) return false;
        if (type === 'chat') urls.add(url);
        return true;
      })
      .map(({ n: _, deleted: __, ...shown }) => shown);
  }

  comment(author: number, articleAuthor: number, content: string, parent?: number): void {
    this.comments.push({
      id: this.comments.length + 1,
      author,
      content,
      deleted: false,
      at: this.#now(),
      ...(parent === undefined ? {} : { parent }),
    });
    const recipient =
      parent === undefined ? articleAuthor : (this.comments[parent - 1] as ModelComment).author;
    const type = parent === undefined ? 'comment' : 'recomment';
    if (recipient !== author) this.notify(recipient, author, type, content, '/board/1');
  }
}

/** A message as a socket or, without its number, a list shows it. */
export function shown(
  { id, seq, sender, content, read, at }: ModelMessage,
  by: 'socket' | 'rest',
): SeenMessage {
  return { id, ...(by === 'socket' ? { seq } : {}), sender, content, readCount: read ? 0 : 1, at };
}
