import type { Domain } from '../../domain/domain.js';
import type { ErrorCode } from '../../domain/kernel/errors.js';
import type { Live } from '../../domain/kernel/live.js';
import { noLive } from '../../domain/kernel/live.js';

/** How a use case was answered: what it returned, or why not. */
export type Answer<R> = { ok: true; value: R } | { ok: false; code: ErrorCode };

/** One row of the enumeration: a use case, how its client repeats it, and what must be true afterwards. */
export interface UseCase<F = never, R = never> {
  /** The export of an area that it calls, such as `community.giveHeart`. */
  name: string;
  /** What is special about this row, for its title. */
  what: string;
  /** Creates records for one run, which no other run touches. */
  prepare(domain: Domain): Promise<F>;
  /** The call, by a process that knows the records from the database only. The retry is the same. */
  act(domain: Domain, records: F): Promise<R>;
  /** What it may be answered, beside success and 503, where an earlier try was carried out without an answer. */
  told?: ErrorCode[];
  /** What is stored once the sweep has run. @param acked what the successful tries returned */
  stored(records: F, acked: R[]): Promise<unknown>;
  /** What `stored` must be, whatever happened. */
  expected: unknown;
}

/** A row whose types only it knows. */
export const useCase = <F, R>(row: UseCase<F, R>): UseCase => row as unknown as UseCase;

/** Sockets that are in every room. */
export const live: Live = { ...noLive, isInRoom: () => true };
