import { World } from '../../answers/world.js';
import type { Closed, Delivery, Fail, Fault, Header, Info, Invoke, Ok, Phase } from '../../history.js';
import type { Asked } from '../rule.js';
import { Articles } from './articles.js';
import { Comments } from './comments.js';
import { type CountedName, Coverage } from './coverage.js';
import { Disturbances } from './disturbances.js';
import { Messages, otherOf, type SentMessage, type Sighting } from './messages.js';
import { Notifications } from './notifications.js';
import { Repairs } from './repairs.js';
import { Streams } from './streams.js';
import { AFTER_FAULTS_MS, Views } from './views.js';

/** Time in which a notification is stored without faults, ms. */
const NOTIFIED_WITHIN_MS = 12_000;

/** What is known of a run so far, from its lines alone; rules compare further lines with it. */
export class Run {
  /** Time of the current line, ms. */
  now = 0;
  phase: Phase['phase'] = 'traffic';
  readonly world = new World();
  readonly disturbances = new Disturbances();
  readonly coverage = new Coverage();
  readonly messages = new Messages();
  readonly articles = new Articles();
  readonly comments = new Comments();
  readonly notifications = new Notifications(this.messages, this.comments);
  readonly streams = new Streams();
  readonly repairs = new Repairs();
  readonly views = new Views(this.disturbances);

  /** Whether the installation was running already: others may use it, too, have used it before, and its clock may differ. */
  isShared = false;

  /** When anything was last asked for or answered in each room. */
  readonly touchedAt = new Map<number, number>();

  /** Messages whose absent recipient has not read their room since, by room and recipient. */
  readonly #unread = new Map<string, SentMessage[]>();

  /** Whether a room may be one that others write in: the user's members have more than those of the run. */
  isOfOthers(room: number): boolean {
    return this.isShared && this.world.room(room) === undefined;
  }

  header(header: Header): void {
    this.isShared = header.options.foreign === true;
    this.world.open(header);
    this.messages.open(header);
    this.articles.open(header);
    this.comments.open(header);
  }

  /** After that, clients close what they had open until then. */
  get hasEnded(): boolean {
    return this.phase === 'end';
  }

  /** Counts what clients have reached: what is read after the traffic is not their choice. */
  reach(what: CountedName): void {
    if (this.phase === 'traffic') this.coverage.add(what);
  }

  fault(fault: Fault): void {
    this.disturbances.note(fault);
  }

  asked(asked: Invoke): void {
    this.#touch(asked, asked.t);
    this.views.asked(asked);
    this.notifications.asked(asked);
    this.articles.asked(asked);
    if (asked.f === 'stream') this.streams.asked(asked);
    else if (asked.f === 'comment') this.comments.ask(asked);
    else if (asked.f === 'uncomment') this.#uncomment(asked);
    else if (asked.f === 'editComment') this.comments.edit(asked);
    else if (asked.f === 'send') this.#send(asked);
    else if (asked.f === 'join' || asked.f === 'messages' || asked.f === 'read') this.#mayRead(asked);
  }

  #uncomment(asked: Asked<'uncomment'>): void {
    const comment = this.comments.byId(asked.comment);
    if (comment && comment.removalAskedAt === undefined)
      comment.removedEarly = !this.#wasDue(comment.ackedAt);
    this.comments.remove(asked, asked.t);
  }

  /** Whether what was acknowledged at a time had to notify by now. */
  #wasDue(ackedAt: number | undefined): boolean {
    if (ackedAt === undefined) return false;
    return this.disturbances.isSettled(ackedAt, this.now, NOTIFIED_WITHIN_MS, AFTER_FAULTS_MS);
  }

  /** A message that is read before its notification had to be there needs none (domain/chat/notify-absent.ts). */
  #mayRead({ room, member }: Asked<'join'> | Asked<'messages'> | Asked<'read'>): void {
    const key = `${room} ${member}`;
    for (const message of this.#unread.get(key) ?? []) {
      if (!this.#wasDue(message.ackedAt)) message.absent = false;
    }
    this.#unread.delete(key);
  }

  #send(asked: Asked<'send'>): void {
    const { message, isFirst } = this.messages.ask(asked);
    if (!isFirst) return;
    const recipient = otherOf(message.room, message.sender);
    message.absent = !this.views.maybeIn(asked.room, recipient, asked.t);
    if (message.absent) {
      const key = `${asked.room} ${recipient}`;
      const unread = this.#unread.get(key);
      if (unread) unread.push(message);
      else this.#unread.set(key, [message]);
    }
    message.present = this.views.inSince(asked.room, recipient, asked.t);
  }

  #touch(asked: Invoke, t: number): void {
    if ('room' in asked) this.touchedAt.set(asked.room, t);
  }

  answered(ok: Ok, asked: Invoke): void {
    this.#touch(asked, ok.t);
    this.views.answered(ok, asked);
    this.notifications.answered(asked, ok.t);
    this.articles.answered(ok, asked);
    if (asked.f === 'stream' && ok.f === 'stream') this.streams.answered(asked, ok.last, ok.t);
    else if (asked.f === 'comment') this.comments.ack(asked, ok.t);
    else if (asked.f === 'uncomment') this.comments.removed(asked, ok.t);
    else if (asked.f === 'editComment') this.comments.edited(asked, ok.t);
    else if (asked.f === 'send') this.#acknowledge(asked, ok);
    // It may have read what was sent after it was asked.
    else if (asked.f === 'messages' || asked.f === 'read') this.#mayRead(asked);
    this.#show(ok, asked);
  }

  /** What it shows of comments and notifications. */
  #show(ok: Ok, asked: Invoke): void {
    if (ok.f === 'comments') for (const seen of ok.comments) this.comments.see(seen, ok.t);
    if (ok.f !== 'notifications') return;
    for (const seen of ok.notifications) this.notifications.see(asked.member, seen, ok.t);
  }

  #acknowledge(asked: Asked<'send'>, ok: Ok): void {
    const message = this.messages.byContent(asked.content);
    if (!message) return;
    if (message.ackedAt === undefined) {
      const recipient = otherOf(message.room, message.sender);
      message.absent &&= !this.views.maybeIn(asked.room, recipient, ok.t);
      const isStillIn = message.present === this.views.inSince(asked.room, recipient, message.askedAt);
      if (!isStillIn || !this.disturbances.isPresenceSure(message.askedAt)) message.present = undefined;
    }
    this.messages.ack(message, ok.t);
  }

  unanswered(outcome: Fail | Info, asked: Invoke): void {
    this.#touch(asked, outcome.t);
    this.views.unanswered(outcome, asked);
    this.articles.unanswered(outcome, asked);
    if (asked.f === 'comment') this.comments.miss(asked, outcome);
    if (asked.f === 'uncomment') this.comments.notRemoved(asked, outcome);
    if (asked.f === 'editComment') this.comments.notEdited(asked, outcome);
    if (asked.f === 'send') {
      const message = this.messages.byContent(asked.content);
      if (message) this.messages.miss(message, outcome);
      return;
    }
    // It may be done later, as reading a page reads the room's messages.
    if (outcome.e === 'info' && (asked.f === 'messages' || asked.f === 'read')) {
      this.#mayRead(asked);
      this.views.linger(asked.room, asked.member, outcome.t);
    }
  }

  delivered(delivery: Delivery): void {
    this.views.delivered(delivery);
    this.notifications.delivered(delivery);
  }

  closed(closed: Closed): void {
    if (this.hasEnded) return;
    this.views.closed(closed);
    this.streams.closed(closed);
  }

  /** The messages that a success shows. */
  *shownBy(ok: Ok, asked: Invoke): Generator<Sighting> {
    const { client, t: askedAt, member } = asked;
    const { t } = ok;
    const sight = (room: number, by: Sighting['by'], seen: Sighting['seen']): Sighting => {
      const message = this.messages.byContent(seen.content);
      return { t, room, seen, message, by, client, askedAt };
    };
    if (ok.f === 'send' && asked.f === 'send') {
      const { id, seq, readCount, at } = ok;
      const { type, content } = asked;
      yield sight(asked.room, 'acknowledgement', { id, seq, sender: member, type, content, readCount, at });
    } else if (ok.f === 'postback' && asked.f === 'postback') {
      yield sight(asked.room, 'list', ok.message);
    } else if (ok.f === 'join' && asked.f === 'join') {
      for (const seen of ok.messages) yield sight(asked.room, 'join', seen);
    } else if (ok.f === 'messages' && asked.f === 'messages') {
      for (const seen of ok.messages) yield sight(asked.room, 'list', seen);
    }
  }

  /** The message that a delivery shows. */
  pushedBy(delivery: Delivery): Sighting | undefined {
    if (delivery.event !== 'message') return undefined;
    const { t, room, message: seen, client } = delivery;
    const message = this.messages.byContent(seen.content);
    return { t, room, seen, message, by: 'push', client, askedAt: t };
  }
}
