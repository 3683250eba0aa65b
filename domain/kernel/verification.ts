/** A stored value that contradicts the records it is derived from. */
export interface Finding {
  /** One line: which record, its value, and what the records say. */
  text: string;
  /** Repairs it; repeatable. Absent if only a person can decide. */
  repair?: () => Promise<void>;
}

/**
 * A check of stored values against the records they are derived from. It may run while a service is running:
 * writes in progress are not reported.
 */
export interface Check {
  /** Approximate number of records to check, for a progress bar. */
  size(): Promise<number>;
  /** @param checked called with the number of records checked since the last call */
  run(checked: (count: number) => void): AsyncIterable<Finding>;
}
