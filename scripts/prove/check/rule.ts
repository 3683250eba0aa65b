import type { Closed, Delivery, Fail, Header, Info, Invoke, Ok, OperationName, Phase } from '../history.js';
import type { Sighting } from './facts/messages.js';
import type { Run } from './facts/run.js';

/** An invocation of one kind. */
export type Asked<F extends OperationName> = Extract<Invoke, { f: F }>;

/** A success of one kind. */
export type Answered<F extends OperationName> = Extract<Ok, { f: F }>;

/** What a rule sees of a history, in its order. The facts of the run hold each line already. */
export interface Watcher {
  header?(header: Header): void;
  asked?(asked: Invoke): void;
  answered?(ok: Ok, asked: Invoke): void;
  /** A refusal, or an unknown outcome. */
  unanswered?(outcome: Fail | Info, asked: Invoke): void;
  /** Somebody was shown a message. */
  saw?(sighting: Sighting): void;
  delivered?(delivery: Delivery): void;
  closed?(closed: Closed): void;
  phase?(phase: Phase): void;
  /** The history has ended. */
  end?(): void;
}

/** What a rule says when it is broken. @param t when it was seen, ms; without it, the time of the line */
export type Report = (text: string, t?: number) => void;

/** One promise, and how a history shows that it was broken. */
export interface Rule {
  /** As in a verdict. */
  name: string;
  /** The promise, in a sentence. */
  says: string;
  /** Where it is made. */
  source: string;
  /** Starts to watch a run. It must report nothing that a correct service can cause. */
  watch(run: Run, report: Report): Watcher;
}

/** A time of a history, as violations print it. */
export const at = (t: number): string => `${(t / 1_000).toFixed(3)} s`;
