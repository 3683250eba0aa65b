/** Something stored that disagrees with the records it follows from. */
export interface Finding {
  /** One line: which record, what it says, and what the records say. */
  text: string;
  /** Brings it in line; may be called again. Absent where only a person can decide. */
  mend?: () => Promise<void>;
}

/**
 * A check of stored values against the records they follow from. It may run beside a working service:
 * what is only halfway through a write at that moment is no finding.
 */
export interface Check {
  /** How many records it looks at, about; for a progress bar. */
  size(): Promise<number>;
  /** @param looked told how many more records have been looked at */
  run(looked: (count: number) => void): AsyncIterable<Finding>;
}
