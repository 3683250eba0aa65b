import type { PlantedFault } from './planted-fault.js';

/** Each how-manieth message of a room is handled wrongly, by its number. */
const EVERY = 20;

const DELIVERY = {
  file: 'gateway/socket-live.js',
  find: 'publish();\n                    stages?.endWhenWritten();',
};
const STORING = {
  file: 'domain/chat/ledger.js',
  find: 'const count = await this.#write(state, async () => {',
};

/** Messages: storing, numbering, delivering and showing them. */
export const ofMessages: Record<string, PlantedFault> = {
  'drop-push': {
    does: `delivers all but one of ${EVERY} messages`,
    ...DELIVERY,
    replace: `if (payload.seq % ${EVERY} !== 0) publish();`,
    rule: 'no-view-skips',
  },
  'swap-pushes': {
    does: `delivers one of ${EVERY} messages after the next of its room`,
    ...DELIVERY,
    replace: `const late = (globalThis.late ??= new Map()).get(room);
                    globalThis.late.delete(room);
                    if (payload.seq % ${EVERY} === 0) globalThis.late.set(room, publish);
                    else publish();
                    late?.();`,
    rule: 'no-view-skips',
  },
  'double-push': {
    does: `delivers one of ${EVERY} messages twice`,
    ...DELIVERY,
    replace: `publish();
                    if (payload.seq % ${EVERY} === 0) publish();`,
    rule: 'no-view-skips',
  },
  'ack-before-store': {
    does: 'acknowledges messages half a second before it stores them',
    ...STORING,
    replace: `const copies = structuredClone(records);
        setTimeout(() => void insertInOrder(Message, copies).catch(() => {}), 500);
        const count = await (async () => records.length)(state, async () => {`,
    rule: 'acknowledged-is-kept',
  },
  'ack-before-database': {
    does: 'acknowledges messages before the database has answered',
    ...STORING,
    replace: `const count = await (async (_, write) => {
            void write().catch(() => {});
            return records.length;
        })(state, async () => {`,
    rule: 'acknowledged-is-kept',
  },
  'lose-on-kill': {
    does: 'loses the messages of the last 30 s when it is started again',
    file: 'domain/open-domain.js',
    find: 'const domain = await createDomain(options);',
    replace: `const { Message } = await import('./chat/message.model.js');
        await Message.deleteMany({ sentAt: { $gt: new Date(Date.now() - 30_000) } });
        const domain = await createDomain(options);`,
    rule: 'acknowledged-is-kept',
    options: ['--faults', 'kill'],
  },
  'seq-hole': {
    does: `leaves one of ${EVERY} numbers of a room out`,
    file: 'domain/chat/room-states.js',
    find: 'const seq = last.seq + 1;',
    replace: `const seq = last.seq + (last.seq % ${EVERY} === ${EVERY - 2} ? 2 : 1);`,
    rule: 'numbered-without-holes',
  },
  'store-retry': {
    does: 'stores a message again that is sent again with its client key',
    file: 'gateway/events/message-send.js',
    find: 'contentType, content, clientKey, stages }',
    replace: 'contentType, content, stages }',
    rule: 'stored-once',
  },
  'page-skips-one': {
    does: 'leaves a message out between two pages over REST',
    file: 'domain/chat/list-messages.js',
    find: 'range.upTo = next.seq - 1;',
    replace: 'range.upTo = next.seq - 2;',
    rule: 'same-order-for-all',
  },
  'page-reversed': {
    does: 'lists messages over REST newest first',
    file: 'domain/chat/list-messages.js',
    find: 'fitting(newestFirst).reverse()',
    replace: 'fitting(newestFirst)',
    rule: 'same-order-for-all',
  },
  'catch-up-ends-early': {
    does: 'says that nothing follows when a catch-up holds exactly its most, 500 messages',
    file: 'domain/chat/enter-room.js',
    find: 'const limit = MAX_CAUGHT_UP + 1;',
    replace: 'const limit = MAX_CAUGHT_UP;',
    rule: 'acknowledged-is-kept',
  },
  'wrong-name': {
    does: 'shows a member’s address instead of their name in messages to sockets',
    file: 'domain/chat/message.presenter.js',
    find: "senderName: sender?.nickname ?? '',\n        senderNo: record.senderNo,\n        saleNo",
    replace: "senderName: sender?.email ?? '',\n        senderNo: record.senderNo,\n        saleNo",
    rule: 'answers-are-whole',
  },
  'type-lost': {
    does: 'shows all messages to sockets as text',
    file: 'domain/chat/message.presenter.js',
    find: 'chatNo: record.chatNo,\n        contentType: record.contentType,',
    replace: "chatNo: record.chatNo,\n        contentType: 'text',",
    rule: 'answers-are-whole',
  },
  'wrong-mine': {
    does: 'marks the messages of the room’s creator as the reader’s own over REST',
    file: 'domain/chat/message.presenter.js',
    find: 'mine: record.senderNo === readerNo',
    replace: 'mine: record.senderNo === state.creator',
    rule: 'answers-are-whole',
  },
  'typing-without-end': {
    does: 'tells the end of typing as typing',
    file: 'gateway/events/typing.js',
    find: 'actor.no, request.typing)',
    replace: 'actor.no, true)',
    rule: 'typing-is-typed',
  },
};
