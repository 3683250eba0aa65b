/** Answers, as status and code. */
const UNKNOWN_CALLER = ['401 UNAUTHORIZED'];
const FORBIDDEN = ['403 FORBIDDEN'];
const NO_ROOM = ['404 CHAT_ROOM_NOT_FOUND'];
const NO_NOTIFICATION = ['404 NOTIFICATION_NOT_FOUND'];
const NO_COMMENT = ['404 COMMENT_NOT_FOUND'];
const NO_ARTICLE = ['404 ARTICLE_NOT_FOUND'];

/** A success without effect (contract, section 4: leaving a room). */
const NOTHING = ['200'];

/** To calls that need a token. */
const byToken = { tokenless: UNKNOWN_CALLER, forged: UNKNOWN_CALLER };

/** To calls on a room. */
const onRoom = { foreign: FORBIDDEN, missing: NO_ROOM };

/** To changes of a comment, which its author may delete meanwhile, and of an article. */
const onComment = { foreign: [...FORBIDDEN, ...NO_COMMENT], missing: NO_COMMENT, ...byToken };
const onArticle = { foreign: FORBIDDEN, missing: NO_ARTICLE, ...byToken };
const onNotification = { foreign: NO_NOTIFICATION, missing: NO_NOTIFICATION, ...byToken };

/**
 * What members try that is not theirs to do, and how it may be answered (contract, sections 2 to 6; gateway/PROTOCOL.md):
 * on what is another member's (`foreign`), on what does not exist (`missing`), without a token, and with one that the
 * service has not signed (`forged`).
 */
export const intrusions = {
  'room:join': onRoom,
  'message:send': onRoom,
  'message:read': onRoom,
  // Of a room that the connection has not joined, whatever it is.
  typing: { foreign: FORBIDDEN, missing: FORBIDDEN },
  'room:leave': onRoom,
  connect: byToken,
  messages: { ...onRoom, ...byToken },
  push: { ...onRoom, ...byToken },
  leave: { foreign: NO_ROOM, missing: NO_ROOM, tokenless: NOTHING, forged: UNKNOWN_CALLER },
  /** With the address of a participant: in a foreign room, and in the member's own. */
  'leave for another': { foreign: NOTHING, missing: NO_ROOM },
  'leave for the other party': { foreign: NOTHING },
  'check of a notification': onNotification,
  'deletion of notifications': onNotification,
  'edit of a comment': onComment,
  'deletion of a comment': onComment,
  'edit of an article': onArticle,
  'deletion of an article': onArticle,
} satisfies Record<string, Partial<Record<Manner, readonly string[]>>>;

export type Manner = 'foreign' | 'missing' | 'tokenless' | 'forged';

/** What is tried. */
export type Intrusion = keyof typeof intrusions;

/** All that is to be tried: a call, and in which manner. */
export const tries = Object.entries(intrusions).flatMap(([call, answers]) =>
  Object.keys(answers).map((manner) => ({ call: call as Intrusion, manner: manner as Manner })),
);

/** Answers that a call may have in a manner, as `403 FORBIDDEN`, a success as `200`. */
export const answersTo = (call: Intrusion, manner: Manner): readonly string[] =>
  (intrusions[call] as Partial<Record<Manner, readonly string[]>>)[manner] ?? [];
