import { pino } from 'pino';
import type { MessagePayload } from '../../../domain/kernel/live.js';
import { RoomComparer } from '../../../gateway/order/compare-rooms.js';
import { Sequencer } from '../../../gateway/order/sequencer.js';
import type { SequencerDeps } from '../../../gateway/order/sequencer-deps.js';
import { nextTurn } from '../../support/eventually.js';

export const CHAT = 7;

/** Runs everything that was deferred to a later turn of the event loop. */
export const settled = () => nextTurn(10);

/** A room in a database of its own, and the sockets of this process in it. */
export function buildRoom() {
  const stored: MessagePayload[] = [];
  const reads = new Map<number, number>();
  /** Events delivered to sockets, in order. */
  const told: string[] = [];
  /** Numbers of the messages delivered. */
  const shown: number[] = [];
  /** The socket left out of each delivery, if any. */
  const leftOut: (string | undefined)[] = [];
  /** Reads of messages, by the number after which they begin. */
  const asked: number[] = [];
  /** Rooms of each comparison. */
  const looks: number[][] = [];
  /** What the chat was told. */
  const heard: string[] = [];
  /** Rooms passed to the views. */
  const compared: number[] = [];
  /** Log lines about dropped pushes. */
  const drops: string[] = [];
  let known: [memberNo: number, seq: number][] = [];
  let gapsFilled = 0;
  let occupied = false;
  let pageSize = 1_000;
  let beforeRead = (): void | Promise<void> => {};
  const positions = (of: Iterable<[number, number]>) =>
    [...of].map(([memberNo, seq]) => ({ memberNo, seq, others: seq }));

  const logger = pino({}, { write: (line: string) => line.includes('were dropped') && drops.push(line) });
  const deps: SequencerDeps = {
    logger,
    async read(_chatNo, after) {
      asked.push(after);
      const page = stored.filter(({ seq }) => seq > after).slice(0, pageSize);
      await nextTurn();
      await beforeRead();
      return page;
    },
    emit({ seq }, exceptSocket) {
      shown.push(seq);
      told.push(`message ${seq}`);
      leftOut.push(exceptSocket);
    },
    entering(chatNo) {
      return known.length > 0 ? { chatNo, seq: stored.length, reads: positions(known) } : undefined;
    },
    noteMessage: ({ seq }) => heard.push(`message ${seq}`),
    noteRead: (_chatNo, { memberNo, seq }) => heard.push(`read ${seq} by ${memberNo}`),
    emitRead: (_chatNo, { seq }) => told.push(`read ${seq}`),
    filled(chatNo) {
      gapsFilled += 1;
      comparer.compareSoon(chatNo);
    },
    isOccupied: () => occupied,
  };
  const sequencer = new Sequencer(deps);
  const comparer = new RoomComparer({
    ...{ sequencer, logger, redis: undefined, reports: undefined },
    async heads(chatNos) {
      looks.push(chatNos);
      return chatNos.map((chatNo) => ({ chatNo, seq: stored.length, reads: positions(reads) }));
    },
    views: { compare: ({ chatNo }) => void compared.push(chatNo), async compareAll() {} },
  });
  const compare = () => comparer.compare(sequencer.rooms());

  return {
    ...{ sequencer, compare, shown, told, reads, leftOut, asked, looks, heard, compared, drops },
    get gapsFilled() {
      return gapsFilled;
    },
    /** Read positions known when a socket joins. */
    knows(...given: typeof known) {
      known = given;
    },
    store(more: Partial<MessagePayload> = {}): MessagePayload {
      const seq = stored.length + 1;
      const message = { id: `m${seq}`, chatNo: CHAT, seq, senderNo: 1, readCount: 1, sendTime: 0, ...more };
      stored.push(message as MessagePayload);
      return message as MessagePayload;
    },
    /** A message that is not in the database. */
    forged: (seq: number) =>
      ({ id: 'forged', chatNo: CHAT, seq, senderNo: 1, readCount: 1, sendTime: 0 }) as MessagePayload,
    push: (message: MessagePayload, deliver = () => deps.emit(message)) => sequencer.offer(message, deliver),
    /** A push that anybody may have published. */
    announce: (message: MessagePayload) => sequencer.offer(message),
    pushRead(memberNo: number, seq: number) {
      const position = { memberNo, seq, others: seq };
      sequencer.offerRead(CHAT, position, () => told.push(`read ${seq}`));
    },
    pushChange: (text: string) => sequencer.offerChange(CHAT, () => told.push(text)),
    /** @param during called after the newcomer has read, before the join is answered */
    enter: (during: () => void | Promise<void> = () => {}, socket = 'socket', chatNo = CHAT) =>
      sequencer.enter(chatNo, socket, async () => {
        occupied = true;
        const seq = stored.length;
        const [otherRead] = positions(reads);
        await nextTurn();
        await during();
        return { seq, ...(otherRead && { otherRead }) };
      }),
    leave() {
      occupied = false;
      sequencer.leave(CHAT);
    },
    inPagesOf(size: number) {
      pageSize = size;
    },
    /** Sets what happens during reads of the database. */
    whileReading(what: typeof beforeRead) {
      beforeRead = what;
    },
    /** Whether the room is still followed: compared with the database. */
    async isKept(): Promise<boolean> {
      looks.length = 0;
      await compare();
      return looks.length > 0;
    },
  };
}

export type SequencedRoom = ReturnType<typeof buildRoom>;

/** A room with a socket in it. */
export async function enteredRoom(...knows: [memberNo: number, seq: number][]): Promise<SequencedRoom> {
  const room = buildRoom();
  room.knows(...knows);
  await room.enter();
  await settled();
  return room;
}
