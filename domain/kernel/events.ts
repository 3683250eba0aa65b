/** Events that areas publish after a write is acknowledged: ids, and the few values that notifications show. */
export interface DomainEvents {
  /** A comment or reply was stored. `recipientNo` is the author of what it answers. */
  'comment.created': {
    commentId: number;
    articleId: number;
    authorNo: number;
    recipientNo: number;
    kind: 'comment' | 'recomment';
    context: string;
  };
  /** An article has the most hearts of the last 24 hours or 7 days. */
  'article.leading': { articleId: number; authorNo: number; title: string; window: 'hot' | 'weekly' };
  /** A message was stored while its recipient was absent from the room. */
  'message.unannounced': {
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

/** Connects the areas within a process. @returns a bus without listeners */
export function createEventBus() {
  const listeners = new Map<string, Listener<never>[]>();
  return {
    on<K extends keyof DomainEvents>(name: K, listener: Listener<K>): void {
      listeners.set(name, [...(listeners.get(name) ?? []), listener as Listener<never>]);
    },
    /**
     * Resolves when all listeners are done; only then does the caller clear the mark of its record. If this
     * rejects, a sweep publishes the event again, so listeners must be idempotent.
     */
    async publish<K extends keyof DomainEvents>(name: K, event: DomainEvents[K]): Promise<void> {
      await Promise.all((listeners.get(name) ?? []).map((listener) => listener(event as never)));
    },
  };
}

export type EventBus = ReturnType<typeof createEventBus>;
