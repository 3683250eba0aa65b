import type { Actor } from '../kernel/actor.js';
import type { LocalDateTime } from '../kernel/local-date-time.js';
import type { CommentRecord } from './comment.model.js';

/** The documented reply: a comment without replies. */
export interface ReplyView {
  /** 0 comment, 1 reply. */
  type: number;
  mine: boolean;
  id: number;
  author: string;
  authorId: number;
  context: string;
  profile: string;
  publishedAt: string;
  like: number;
  /** 0 live, 1 deleted; 2 (its author has left) is reserved. */
  deleteStatus: number;
  /** 0 shown; 1 and 2 (hidden, hidden for now) are reserved for moderation. */
  blindStatus: number;
}

/** The documented comment. */
export interface CommentView extends ReplyView {
  comments: ReplyView[];
}

/** What the comments of a response have in common. */
export interface CommentViewing {
  authors: ReadonlyMap<number, Pick<Actor, 'nickname' | 'profile'>>;
  /** The caller, if known: decides `mine`. */
  reader: Actor | undefined;
  localTime: LocalDateTime;
}

function presentReply(comment: CommentRecord, { authors, reader, localTime }: CommentViewing): ReplyView {
  const author = authors.get(comment.authorNo);
  return {
    type: comment.parentId === 0 ? 0 : 1,
    mine: comment.authorNo === reader?.no,
    id: comment._id,
    author: author?.nickname ?? '',
    authorId: comment.authorNo,
    context: comment.context,
    profile: author?.profile ?? '',
    publishedAt: localTime.text(comment.publishedAt.getTime()),
    like: comment.hearts,
    deleteStatus: comment.state === 'live' ? 0 : 1,
    blindStatus: 0,
  };
}

/**
 * Comments with their replies, both oldest first. A reply is shown while it is live and its comment is
 * shown.
 */
export function presentComments(comments: CommentRecord[], viewing: CommentViewing): CommentView[] {
  const inOrder = [...comments].sort((a, b) => a._id - b._id);
  const shown = new Map<number, CommentView>();
  for (const comment of inOrder) {
    if (comment.parentId !== 0 || comment.state === 'gone') continue;
    shown.set(comment._id, { ...presentReply(comment, viewing), comments: [] });
  }
  for (const comment of inOrder) {
    if (comment.parentId === 0 || comment.state !== 'live') continue;
    shown.get(comment.parentId)?.comments.push(presentReply(comment, viewing));
  }
  return [...shown.values()];
}
