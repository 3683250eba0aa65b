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
  notificationListsCompared: number;
  absentRecipients: number;
  heartCountsCompared: number;
  commentCountsCompared: number;
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
    notificationListsCompared: 0,
    absentRecipients: 0,
    heartCountsCompared: 0,
    commentCountsCompared: 0,
  };
  /** Operations that were under way while a fault lasted, by fault. */
  readonly faults = new Map<string, number>();

  add(what: keyof Counted, by = 1): void {
    this.counts[what] += by;
  }
}
