/** Methods of the driver's collections that tests intercept. */
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

/** These answer with a cursor: the call counts when the cursor is read. */
const CURSORS = ['find', 'aggregate'] as const;

export type DatabaseCall = (typeof CALLS)[number] | (typeof CURSORS)[number];

/** A mongoose model. */
interface Model {
  collection: object;
}

type Method = (...args: unknown[]) => unknown;

/**
 * Intercepts the calls that models make to the driver.
 *
 * @param around makes the call by `run`, or does not; `argument` is the call's first
 * @returns ends the interception
 */
export function interceptCalls(
  models: Model[],
  around: (
    model: Model,
    call: DatabaseCall,
    run: () => Promise<unknown>,
    argument: unknown,
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
    // The replacements hide the methods of the prototype.
    for (const { collection } of models)
      for (const call of [...CALLS, ...CURSORS]) delete (collection as Record<string, Method>)[call];
  };
}

/**
 * Runs an event just before or after the next call of a kind: what another process does at that moment, or a failure,
 * where the event throws.
 *
 * @returns the result of the work
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

/** Runs a task with a step before each insert of several records; the step gets the records. */
export async function beforeInserts<T>(
  model: Model,
  before: (records: T[]) => Promise<void> | void,
  task: () => Promise<void>,
): Promise<void> {
  const stop = interceptCalls([model], async (_, call, run, records) => {
    if (call === 'insertMany') await before(records as T[]);
    return run();
  });
  try {
    await task();
  } finally {
    stop();
  }
}

/** Runs a task. @returns how many records it stored by each insert of several */
export async function insertSizes(model: Model, task: () => Promise<void>): Promise<number[]> {
  const sizes: number[] = [];
  await beforeInserts<unknown>(model, ({ length }) => void sizes.push(length), task);
  return sizes;
}
