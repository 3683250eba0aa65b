import type { Intrusion, Manner } from '../../intrusions.js';

/** What a history reached, by what it is called; printed with the verdict. */
export interface Counted {
  /** Retries of a stored message, answered with it. */
  deduplicatedRetries: number;
  /** Messages that a gateway read because their push did not come. */
  filledGaps: number;
  /** Messages that are stored although their acknowledgement never came. */
  lostAcknowledgements: number;
  /** Streams that began with what was stored before they were opened. */
  replayedStreams: number;
  /** Numbers of a room that two processes took at the same time. */
  conflicts: number;
  /** Rooms read from the first message to the last after the traffic, by each of both parties. */
  roomsReadWhole: number;
  viewsCompared: number;
  presencesSeen: number;
  absencesSeen: number;
  unreadCountsCompared: number;
  roomStatesCompared: number;
  readPositionsCompared: number;
  notificationListsCompared: number;
  absentRecipients: number;
  heartCountsCompared: number;
  bookmarksCompared: number;
  commentCountsCompared: number;
  /** Calls on what is not the caller's, refused as documented. */
  intrusionsRefused: number;
}

export class Coverage {
  readonly counts: Counted = {
    deduplicatedRetries: 0,
    filledGaps: 0,
    lostAcknowledgements: 0,
    replayedStreams: 0,
    conflicts: 0,
    roomsReadWhole: 0,
    viewsCompared: 0,
    presencesSeen: 0,
    absencesSeen: 0,
    unreadCountsCompared: 0,
    roomStatesCompared: 0,
    readPositionsCompared: 0,
    notificationListsCompared: 0,
    absentRecipients: 0,
    heartCountsCompared: 0,
    bookmarksCompared: 0,
    commentCountsCompared: 0,
    intrusionsRefused: 0,
  };
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
    this.add('intrusionsRefused');
  }

  add(what: keyof Counted, by = 1): void {
    this.counts[what] += by;
  }
}
