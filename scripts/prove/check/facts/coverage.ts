import { type Intrusion, type Manner, tries } from '../../intrusions.js';
import { type DocumentedName, operations } from './documented.js';

/** What is counted of a history, and what a verdict needs of it. */
export interface Demand {
  /** As verdicts print it. */
  says: string;
  /** The least number that "holds" needs; 0: it is only printed. */
  least: number;
  /**
   * What reaches it: `clients`, by their choices during the traffic; `calm`, they in a run without faults; `end`, the last reads and
   * comparisons with them; `faults`, a run with all of them; `losses`, a run with none but those by which Redis loses keys; `kill`, a
   * run with that one.
   */
  by: 'clients' | 'calm' | 'end' | 'faults' | 'losses' | 'kill';
  /**
   * Where it is demanded, unless everywhere: `own`, in an installation that the run starts itself, as others limit rates and
   * transports; `gateways`, in one of these with several gateways.
   */
  where?: 'own' | 'gateways';
}

const demand = (says: string, least: number, by: Demand['by'] = 'clients'): Demand => ({ says, least, by });
const demandAt = (
  where: NonNullable<Demand['where']>,
  says: string,
  least: number,
  by?: Demand['by'],
): Demand => ({ ...demand(says, least, by), where });

/** Rare paths and comparisons, by name. */
const paths = {
  retriedSends: demand('messages sent again by socket, answered with the first one', 3),
  retriedPushes: demand('messages pushed again by REST, answered with the first one', 3),
  racingKeys: demand('messages sent twice at once under one key', 2),
  racingHearts: demand('hearts that a member gave twice at once', 3),
  racingBookmarks: demand('bookmarks that a member set twice at once', 3),
  secondPages: demand('second and further pages of messages', 5),
  lastPages: demand('pages of messages that ended at the first one', 2),
  pagesWhileSending: demand('second pages that were read while messages came', 2),
  catchUpsWithMore: demandAt('own', 'catch-ups of more than one answer', 2),
  movedReads: demand('read positions set by a socket, of which the other party was told', 2),
  readsTold: demand('sockets to be told that their member has read a room with unread messages', 3, 'calm'),
  tabsLeft: demandAt('gateways', 'members whose two tabs left a room by two gateways within seconds', 2),
  replayedStreams: demand('streams that replayed', 3),
  deletedNotificationsGone: demand('deleted notifications that a later list does not hold', 3),
  shortenedStreams: demand('streams that came back past deleted notifications', 1),
  typingTold: demand('clients told that somebody types', 3),
  arrivalsTold: demand('clients told that a member has entered', 3),
  departuresTold: demand('clients told that a member has left', 3),
  secondHearts: demand('hearts refused as given before', 3),
  missingHearts: demand('removals of hearts refused as not given', 3),
  secondBookmarks: demand('bookmarks refused as set before', 3),
  missingBookmarks: demand('removals of bookmarks refused as not set', 3),
  flaggedComments: demand('deleted comments shown for the sake of their replies', 1),
  intrusionsTried: demand('kinds of calls on what is of others or does not exist, refused', tries.length),
  intrusionsRefused: demand('calls on what is of others or does not exist, refused', 0),
  articlePages: demand('second and further pages of articles', 3),
  articlesNotFound: demand('requests for deleted articles, refused', 1),
  imageMessages: demand('messages that are images', 3),
  racingRooms: demandAt('own', 'rooms that a member opened twice at once', 1),
  repeatedRooms: demandAt('own', 'rooms opened again', 2),
  postbacks: demandAt('own', 'messages that legacy receivers posted back', 2),
  pollingSockets: demandAt('own', 'connections by long-polling', 2),
  upgradedSockets: demandAt('own', 'connections that went from long-polling to WebSocket', 2),
  absentRecipients: demand('messages to absent recipients, who were notified', 3),
  filledGaps: demandAt('gateways', 'gaps that a process filled from the database', 1, 'faults'),
  lostAcknowledgements: demand('messages stored whose acknowledgement was lost', 1, 'faults'),
  conflicts: demand('numbers that two processes took at the same time', 1, 'faults'),
  roomsReadWhole: demand('rooms read whole at the end by both', 1, 'end'),
  viewsCompared: demand('joined sockets compared with a fresh join', 1, 'end'),
  presencesSeen: demand('members seen present', 1, 'end'),
  presencesAfterLoss: demand('members seen present soon after Redis had lost keys', 1, 'losses'),
  absencesSeen: demand('members seen absent', 1, 'end'),
  absentAfterKill: demand('members seen absent whose gateway was killed last of all', 1, 'kill'),
  unreadCountsCompared: demand('unread counts compared with the messages', 1, 'end'),
  roomStatesCompared: demand('rooms as sockets show them compared with a fresh list', 1, 'end'),
  readPositionsCompared: demand('read positions that sockets show compared with a fresh list', 1, 'end'),
  notificationListsCompared: demand('lists of notifications compared', 1, 'end'),
  heartCountsCompared: demand('counts of hearts compared', 1, 'end'),
  bookmarksCompared: demand('bookmarks asked for again at the end', 1, 'end'),
  leadersCompared: demandAt('own', 'hot and weekly articles compared with the hearts of all', 4, 'end'),
  commentCountsCompared: demand('counts of comments compared', 1, 'end'),
} satisfies Record<string, Demand>;

type PathName = keyof typeof paths;

/** What is counted: operations by the name that the documents give them, and paths. */
export type CountedName = PathName | DocumentedName;

/** What a history reached; printed with the verdict. */
export type Counted = Record<CountedName, number>;

export const demands: Record<CountedName, Demand> = { ...operations, ...paths };

const names = Object.keys(demands) as CountedName[];

export const nameOfCounted = (what: CountedName): string => demands[what].says;

export class Coverage {
  readonly counts = Object.fromEntries(names.map((name) => [name, 0])) as Counted;
  /** Requests, deliveries and ends of connections that a fault could hurt, while it lasted, by fault. */
  readonly faults = new Map<string, number>();

  /** A fault of this kind could hurt something. */
  meet(fault: string): void {
    this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1);
  }

  /** What was tried on others, as `call, manner`. */
  readonly tried = new Set<string>();

  /** A call on what is not the caller's was answered as documented. */
  refused(call: Intrusion, manner: Manner): void {
    this.tried.add(`${call}, ${manner}`);
    this.counts.intrusionsTried = this.tried.size;
    this.add('intrusionsRefused');
  }

  add(what: CountedName, by = 1): void {
    this.counts[what] += by;
  }

  /** What has not reached its least number. @param isDemanded which demands count */
  below(isDemanded: (demand: Demand) => boolean): CountedName[] {
    return names.filter((name) => isDemanded(demands[name]) && this.counts[name] < demands[name].least);
  }

  /** As a verdict says it. */
  shortOf(what: CountedName): string {
    const { says, least } = demands[what];
    const count = this.counts[what];
    return count === 0 ? `never reached: ${says}` : `reached ${count} of ${least} times: ${says}`;
  }
}
