/**
 * Buckets of all durations, seconds: from a call to a database on this machine to the longest that anything may
 * take. The limits of what members are promised (0.25, 0.5 and 5 s) are among them.
 */
export const DURATIONS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Buckets of what also takes less than the shortest of those: from 10 µs on. */
export const SHORT_DURATIONS = [0.00001, 0.000025, 0.00005, 0.0001, 0.00025, ...DURATIONS];

/** @param since performance.now() @returns the time since then, seconds */
export const secondsSince = (since: number): number => (performance.now() - since) / 1_000;
