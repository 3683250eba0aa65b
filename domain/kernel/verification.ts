/** A stored value that contradicts the records it is derived from. */
export interface Finding {
  area: 'members' | 'adoption' | 'community' | 'chat' | 'notifications';
  /** What is wrong, one of a few words; metrics count by it. */
  kind: string;
  /** Which record: `article 7`, `room 3`, `sequence member`. */
  record: string;
  /** The stored value. */
  found: number | string;
  /** What the records say; undefined if they do not tell. */
  expected: number | string | undefined;
  /** One line: which record, its value, and what the records say. */
  text: string;
  /** Repairs it; repeatable. Absent if only a person can decide. */
  repair?: () => Promise<void>;
  /** Whether it may be repaired only while no process of the service runs, because they remember what it changes. */
  isStopNeeded?: boolean;
}

/**
 * Called with the number of records read since the last call, at most PROGRESS_STEP; a check waits for it, so that it
 * can be slowed down or, by an exception, ended.
 * @param isAgain whether these records were counted before: suspects are read twice
 */
export type Checked = (count: number, isAgain?: boolean) => void | Promise<void>;

/** Records after which a check reports its progress. */
export const PROGRESS_STEP = 500;

/**
 * A check of stored values against the records they are derived from, in memory that does not grow with their number.
 * It may run while a service is running: what a write in progress, or a mark of an unfinished one, explains is not
 * reported.
 */
export interface Check {
  /** Approximate number of records to check, for a progress bar. */
  size(): Promise<number>;
  run(checked: Checked): AsyncIterable<Finding>;
}
