import { z } from 'zod';
import type { Door } from '../history.js';
import type { Rest } from './rest.js';
import type { World } from './world.js';

export const no = z.int();
export const text = z.string();
export const flag = z.boolean();

/** What a shape of the history describes. */
export type Shaped<S extends z.ZodRawShape> = keyof S extends never ? object : z.infer<z.ZodObject<S>>;

/** Whose request or event it is, and what is known beside it. */
export interface Around {
  world: World;
  member: number;
  door: Door;
}

/** What the history keeps of an answer or event, and the rest of it. */
export interface Kept<T> {
  kept: T;
  rest: Rest;
}

/** One kind of operation: what is asked, how its answer is kept, and what the rest of the answer must be. */
export interface Operation<A extends z.ZodRawShape, O extends z.ZodRawShape> {
  asked: A;
  answered: O;
  /** Takes an answer apart. Never throws, whatever it is. */
  read(answer: unknown, around: Around & Shaped<A>): Kept<Shaped<O>>;
  /** The rest that a correct service answers. */
  rest(around: Around & Shaped<A>, kept: Shaped<O>): Rest;
}

/** One kind of event, in the same way. */
export interface Event<E extends z.ZodRawShape> {
  shape: E;
  read(payload: unknown, around: Around): Kept<Shaped<E>>;
  rest(around: Around, kept: Shaped<E>): Rest;
}

/** As it is, with its types. */
export const operation = <A extends z.ZodRawShape, O extends z.ZodRawShape>(
  one: Operation<A, O>,
): Operation<A, O> => one;

/** As it is, with its types. */
export const event = <E extends z.ZodRawShape>(one: Event<E>): Event<E> => one;

/** An operation that is answered with the status body alone. */
export const acknowledged = <A extends z.ZodRawShape>(asked: A): Operation<A, Record<never, never>> => ({
  asked,
  answered: {},
  read: (answer) => ({ kept: {}, rest: [answer] }),
  rest: () => [{ status: 200 }],
});

/** An operation without an answer: its success says only that it was sent, or that a connection is open. */
export const unanswered = <A extends z.ZodRawShape>(asked: A): Operation<A, Record<never, never>> => ({
  asked,
  answered: {},
  read: () => ({ kept: {}, rest: [] }),
  rest: () => [],
});

/** Takes out the picture of a member whose picture is not known. @param record is changed */
export function forgetPicture(record: Record<string, unknown>, world: World, member: number): void {
  if (world.member(member)?.picture === undefined) delete record.profile;
}
