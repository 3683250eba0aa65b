import type {
  Delivery,
  Header,
  Invoke,
  Ok,
  RoomState,
  SeenComment,
  SeenNotification,
} from '../../history.js';
import { nameOf } from '../facts/messages.js';
import { describe } from '../facts/notifications.js';
import type { Run } from '../facts/run.js';
import type { Answered, Rule } from '../rule.js';

/** What the wall clock may change while a run goes on, ms. */
const SLACK_MS = 2_000;

/** How far the fault `clock` puts the clock of a process, ms. */
const CLOCK_MS = 3_600_000;

/** Offsets of local times are multiples of it, ms. */
const QUARTER_MS = 900_000;

/** A time in which a record was stored, ms of the history. */
type Span = [from: number, to: number];

/** The wall clock of a run, by its header. */
class WallClock {
  readonly #run: Run;
  #startedAt = 0;
  #localOffsetMs: number | undefined;

  constructor(run: Run) {
    this.#run = run;
  }

  open({ startedAt, localOffsetMs }: Header): void {
    this.#startedAt = Date.parse(startedAt);
    this.#localOffsetMs = localOffsetMs;
  }

  /** Whether a record stored in this span can have this time, epoch ms. */
  fits(time: number, [from, to]: Span): boolean {
    if (this.#run.isShared) return true;
    const slack = SLACK_MS + (this.#run.disturbances.wasClockWrong(from) ? CLOCK_MS : 0);
    return time >= this.#startedAt + from - slack && time <= this.#startedAt + to + slack;
  }

  /** The same of a local time (answers/local-time.ts). Where the offset is not known, any may be. */
  fitsLocal(time: number, span: Span): boolean {
    const about = this.#startedAt + span[1];
    const offset = this.#localOffsetMs ?? Math.round((time - about) / QUARTER_MS) * QUARTER_MS;
    return this.fits(time - offset, span);
  }

  /** As violations print it, with the span that it should be in. */
  print(time: number, [from, to]: Span): string {
    const date = (ms: number) => new Date(ms).toISOString();
    return `${date(time)}; it was asked for at ${date(this.#startedAt + from)} and first shown at ${date(this.#startedAt + to)}`;
  }
}

export const times: Rule = {
  name: 'times-agree',
  says: 'A record has one time everywhere, between the moments when it was asked for and first shown',
  source: 'docs/contract.md, sections 2 to 4, promise 3',
  watch(run, report) {
    const clock = new WallClock(run);
    /** By kind and number, of articles and rooms. */
    const known = new Map<string, number>();

    /** Articles and rooms may be older than the run. */
    function checkOld(name: string, time: number, isLocal: boolean): void {
      const before = known.get(name) ?? time;
      known.set(name, before);
      const span: Span = [Number.NEGATIVE_INFINITY, run.now];
      const fits = isLocal ? clock.fitsLocal(time, span) : clock.fits(time, span);
      if (before !== time) report(`${name} has the time ${time}, and had ${before}`);
      else if (!fits) report(`${name} has the time ${time}, which is still to come`);
    }

    function checkRoom({ room, since, latest, latestAt }: RoomState): void {
      checkOld(`room ${room}`, since, false);
      const message = latest === undefined ? undefined : run.messages.byContent(latest);
      if (message?.at !== undefined && message.at !== latestAt)
        report(
          `room ${room} shows that its latest message ${nameOf(message)} was sent at ${latestAt}; others were shown ${message.at}`,
        );
    }

    function checkComment({ id, content, at: time }: SeenComment): void {
      const comment = run.comments.byContent(content) ?? run.comments.byId(id);
      if (comment?.at === undefined || comment.seenAt === undefined) return;
      const shown = `comment ${id}, "${comment.content}",`;
      const span: Span = [comment.askedAt, comment.seenAt];
      if (comment.at !== time) report(`${shown} has the time ${time}, and had ${comment.at}`);
      else if (comment.seenAt === run.now && !clock.fitsLocal(time, span))
        report(`${shown} was written at ${clock.print(time, span)}, local time`);
    }

    function checkNotification(member: number, seen: SeenNotification): void {
      const record = run.notifications.of(member).records.get(seen.id);
      if (!record || record.seenAt !== run.now || !record.cause) return;
      // Its time has whole seconds.
      const span: Span = [record.cause.askedAt - 1_000, record.seenAt];
      if (!clock.fitsLocal(seen.at, span))
        report(`${describe(seen)} of member ${member} is of ${clock.print(seen.at, span)}, local time`);
    }

    function checkDelivery(delivery: Delivery): void {
      if (delivery.event === 'room') checkRoom(delivery.state);
      else if (delivery.event === 'notification') checkNotification(delivery.member, delivery.notification);
    }

    function checkArticles({ list, hot, weekly }: Answered<'articles'>): void {
      for (const one of [...list, hot, weekly]) if (one) checkOld(`article ${one.article}`, one.at, true);
    }

    function checkAnswer(ok: Ok, asked: Invoke): void {
      if (ok.f === 'rooms') ok.rooms.forEach(checkRoom);
      else if (ok.f === 'comments') ok.comments.forEach(checkComment);
      else if (ok.f === 'articles') checkArticles(ok);
      else if (ok.f === 'article' && asked.f === 'article') checkOld(`article ${asked.article}`, ok.at, true);
      else if (ok.f === 'notifications')
        for (const seen of ok.notifications) checkNotification(asked.member, seen);
    }

    return {
      header: (header) => clock.open(header),
      saw({ message, seen, by, client }) {
        if (message?.at === undefined || message.seenAt === undefined) return;
        const span: Span = [message.askedAt, message.seenAt];
        const shown = `a ${by} of ${client} shows that ${nameOf(seen)} was sent at`;
        if (message.at !== seen.at) report(`${shown} ${seen.at}; others were shown ${message.at}`);
        else if (message.seenAt === run.now && !clock.fits(seen.at, span))
          report(`${shown} ${clock.print(seen.at, span)}`);
      },
      answered: checkAnswer,
      delivered: checkDelivery,
    };
  },
};
