/**
 * What areas tell each other after a write is safe. An event carries ids and the few values its
 * listeners show; the record itself stays where it was written.
 */
export interface DomainEvents {
  /** A live comment or reply was stored. `recipientNo` wrote what it answers. */
  'comment.created': {
    commentId: number;
    articleId: number;
    authorNo: number;
    recipientNo: number;
    kind: 'comment' | 'recomment';
    context: string;
  };
  /** An article leads the hearts of the last 24 hours or 7 days. */
  'article.leading': { articleId: number; authorNo: number; title: string; window: 'hot' | 'weekly' };
  /** A message was stored whose recipient is not in the room. */
  'message.unseen': {
    messageId: string;
    chatNo: number;
    saleNo: number;
    senderNo: number;
    recipientNo: number;
    content: string;
    contentType: string;
  };
}

type Listener<K extends keyof DomainEvents> = (event: DomainEvents[K]) => Promise<void>;

/** The in-process bus between areas. */
export interface EventBus {
  on<K extends keyof DomainEvents>(name: K, listener: Listener<K>): void;
  /**
   * Tells every listener and resolves when all are done. A caller that recorded the cause with its
   * own write clears that record only after this resolves; when it rejects, a later sweep announces
   * the same event again, so listeners are idempotent.
   */
  publish<K extends keyof DomainEvents>(name: K, event: DomainEvents[K]): Promise<void>;
}

/** @returns a bus with no listeners */
export function createEventBus(): EventBus {
  const listeners = new Map<string, Listener<never>[]>();
  return {
    on(name, listener) {
      listeners.set(name, [...(listeners.get(name) ?? []), listener as Listener<never>]);
    },
    async publish(name, event) {
      await Promise.all((listeners.get(name) ?? []).map((listener) => listener(event as never)));
    },
  };
}
