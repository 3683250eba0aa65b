/** All in ms. */
export interface PresenceTimes {
  /** How long a member stays present without a refresh by their process. */
  lifetime: number;
  /** Interval between refreshes: several in a lifetime, so that one lost changes nothing. */
  refreshEvery: number;
  /** Interval between looks whether Redis still has what was written: it is there again within 1 s. (contract, section 5) */
  lookEvery: number;
  /**
   * Time after an interruption in which no expired entry is removed: other processes may reconnect later than
   * this one, and their members are still present.
   */
  grace: number;
  /**
   * How long a call may take until Redis carries it out. Connections that entered so shortly before a removal that is repeated
   * count as entered since.
   */
  latency: number;
}

/** Members of a dead process are removed after lifetime + refreshEvery, within the 30 s of the contract. */
export const DEFAULT_TIMES: PresenceTimes = {
  lifetime: 20_000,
  refreshEvery: 6_000,
  lookEvery: 700,
  grace: 5_000,
  latency: 1_000,
};
