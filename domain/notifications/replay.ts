import type { Delivery } from './delivery-bus.js';
import { lastNumberOf, Notification } from './notification.model.js';
import { createPresenter, type PresenterDeps } from './notification.presenter.js';

/** Records in one page of a replay. */
const PAGE = 500;

/** At or above this, the second half of an event id is a time (epoch ms), as in legacy ids, and not `n`. */
const FIRST_EPOCH_MS = 1_000_000_000_000;

/** Processes' clocks differ by less: what has a higher number by more than this later has a later time, too, ms. */
const CLOCKS_MS = 60_000;

/**
 * @returns number of the last notification published at or before a time; 0 for none. Clocks may differ by the allowance above.
 * Numbers have no gaps and rise with time, so a binary search finds it in some twenty reads; a query by time would read all
 * newer ones.
 */
async function lastNumberAt(memberNo: number, time: number, last: number): Promise<number> {
  let [reached, beyond] = [0, last + 1];
  while (beyond - reached > 1) {
    const n = Math.floor((reached + beyond) / 2);
    const record = await Notification.findOne({ memberNo, n }, { publishedAt: 1 }).lean();
    if (record && record.publishedAt.getTime() <= time) reached = n;
    else beyond = n;
  }
  return reached;
}

/** The number that an event id stands for, perhaps above the last one; undefined for another member's or a malformed one. */
async function numberOf(memberNo: number, eventId: string, last: number): Promise<number | undefined> {
  // Numbers of 15 digits are exact.
  const match = /^(\d{1,15})_(\d{1,15})$/.exec(eventId);
  if (!match || Number(match[1]) !== memberNo) return undefined;
  const cursor = Number(match[2]);
  if (cursor < FIRST_EPOCH_MS) return cursor;
  const surely = await lastNumberAt(memberNo, cursor - CLOCKS_MS, last);
  const first = await Notification.findOne(
    { memberNo, n: { $gt: surely }, publishedAt: { $gt: new Date(cursor) } },
    { n: 1 },
  )
    .sort({ n: 1 })
    .lean();
  return first ? first.n - 1 : last;
}

/**
 * The number after which a stream replays everything. Of several event ids the furthest one counts: the usual
 * browser polyfill keeps sending the header, and the browser's own client the query, with which the page was
 * opened. Without a valid id nothing is replayed. An id above the last one is of before a restore: numbers have begun
 * anew, and everything there is is replayed. (contract, section 6)
 */
export async function resumeAfter(memberNo: number, lastEventIds: readonly string[]): Promise<number> {
  const last = await lastNumberOf(memberNo);
  const numbers = await Promise.all(lastEventIds.map((eventId) => numberOf(memberNo, eventId, last)));
  const known = numbers.filter((number) => number !== undefined);
  const furthest = known.length > 0 ? Math.max(...known) : last;
  return furthest > last ? 0 : furthest;
}

/** The member's notifications after a number, in order, page by page, without deleted ones. */
export async function* replayAfter(
  deps: PresenterDeps,
  memberNo: number,
  after: number,
): AsyncGenerator<Delivery[]> {
  let cursor = after;
  for (;;) {
    const records = await Notification.find({ memberNo, n: { $gt: cursor } })
      .sort({ n: 1 })
      .limit(PAGE)
      .lean();
    const present = await createPresenter(deps, records);
    yield records
      .filter(({ deleted }) => !deleted)
      .map((record) => ({
        memberNo,
        n: record.n,
        publishedAt: record.publishedAt.getTime(),
        view: present(record),
      }));
    const last = records.at(-1);
    if (!last || records.length < PAGE) return;
    cursor = last.n;
  }
}
