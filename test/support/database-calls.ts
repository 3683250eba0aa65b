/** What the driver's collections are asked, as far as the tests go between. */
const CALLS = [
  'findOne',
  'findOneAndUpdate',
  'countDocuments',
  'insertOne',
  'insertMany',
  'updateOne',
  'updateMany',
  'deleteOne',
  'deleteMany',
  'bulkWrite',
] as const;

/** These answer with a cursor: what counts is when it is read. */
const CURSORS = ['find', 'aggregate'] as const;

export type DatabaseCall = (typeof CALLS)[number] | (typeof CURSORS)[number];

/** A mongoose model. */
interface Model {
  collection: object;
}

type Method = (...args: unknown[]) => unknown;

/**
 * Goes between models and the driver until it is told to stop.
 *
 * @param around makes each call by `run`, when it likes, or not at all; `filter` is the call's first argument
 * @returns what ends it
 */
export function interceptCalls(
  models: Model[],
  around: (
    model: Model,
    call: DatabaseCall,
    run: () => Promise<unknown>,
    filter: unknown,
  ) => Promise<unknown>,
): () => void {
  for (const model of models) {
    const collection = model.collection as Record<string, Method>;
    for (const call of CALLS) {
      const original = (collection[call] as Method).bind(collection);
      collection[call] = (...args) => around(model, call, async () => original(...args), args[0]);
    }
    for (const call of CURSORS) {
      const original = (collection[call] as Method).bind(collection);
      collection[call] = (...args) => {
        const cursor = original(...args) as { toArray(): Promise<unknown> };
        const toArray = cursor.toArray.bind(cursor);
        cursor.toArray = () => around(model, call, toArray, args[0]);
        return cursor;
      };
    }
  }
  return () => {
    // What stands on the object itself hides mongoose's own method, which its prototype has.
    for (const { collection } of models)
      for (const call of [...CALLS, ...CURSORS]) delete (collection as Record<string, Method>)[call];
  };
}

/**
 * Lets something happen just before or just behind the next call of a kind: what another process does at
 * that moment, or a failure, where it throws.
 *
 * @returns what the work returns
 * @throws Error when the work makes no such call
 */
export async function meanwhile<T>(
  moment: 'before' | 'after',
  [model, call]: [Model, DatabaseCall],
  event: () => unknown,
  work: () => Promise<T>,
): Promise<T> {
  let due = true;
  const stop = interceptCalls([model], async (_, made, run) => {
    if (!due || made !== call) return run();
    due = false;
    if (moment === 'before') await event();
    const answer = await run();
    if (moment === 'after') await event();
    return answer;
  });
  try {
    const result = await work();
    if (due) throw new Error(`no ${call} was made`);
    return result;
  } finally {
    stop();
  }
}
