import { ackedIn, type SentMessage } from '../facts/messages.js';
import type { Run } from '../facts/run.js';
import type { Answered, Asked, Watcher } from '../rule.js';

/** Counts messages that are sent again, and pages and catch-ups beyond the first. */
export function chatPaths(run: Run): Watcher {
  /** Attempts to send what is known to be stored, and attempts beside others of the same message. */
  const retried = new Map<number, SentMessage>();
  const racing = new Set<number>();
  /** Acknowledged messages of the room when each client began to read it from its end, by client and room. */
  const begun = new Map<string, number>();

  function askToSend({ op, content }: Asked<'send'>): void {
    const message = run.messages.byContent(content);
    if (message?.id !== undefined) retried.set(op, message);
    if ((message?.open ?? 0) > 1) racing.add(op);
  }

  function sent({ op, door, type }: Asked<'send'>, { id }: Answered<'send'>): void {
    if (retried.get(op)?.id === id) run.reach(door === 'push' ? 'retriedPushes' : 'retriedSends');
    if (type === 'image') run.reach('imageMessages');
    if (racing.has(op)) run.reach('racingKeys');
    retried.delete(op);
    racing.delete(op);
  }

  function showPage({ room, client, before }: Asked<'messages'>, { messages }: Answered<'messages'>): void {
    if (before === undefined) return;
    if (messages.length === 0) {
      run.reach('lastPages');
      return;
    }
    run.reach('secondPages');
    const atFirst = begun.get(`${client} ${room}`);
    if (atFirst !== undefined && ackedIn(run.messages.room(room)) > atFirst) run.reach('pagesWhileSending');
  }

  return {
    asked(asked) {
      if (asked.f === 'send') askToSend(asked);
      if (asked.f === 'messages' && asked.before === undefined)
        begun.set(`${asked.client} ${asked.room}`, ackedIn(run.messages.room(asked.room)));
    },
    answered(ok, asked) {
      if (ok.f === 'send' && asked.f === 'send') sent(asked, ok);
      else if (ok.f === 'messages' && asked.f === 'messages') showPage(asked, ok);
      else if (ok.f === 'join' && ok.more) run.reach('catchUpsWithMore');
      else if (ok.f === 'postback') run.reach('postbacks');
    },
    unanswered(_, { op }) {
      retried.delete(op);
      racing.delete(op);
    },
  };
}
