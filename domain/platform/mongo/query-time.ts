/** Longest time, ms, that the database may spend on a read, or on a write that returns the record. */
export const QUERY_MS = 5_000;
