/** Most frames kept of the project's own code. */
const OWN_FRAMES = 8;

/** Frames kept of an error that was raised and thrown outside of the project. */
const FOREIGN_FRAMES = 3;

export interface DescribedError {
  type: string;
  /** With those of its causes. */
  message: string;
  code?: string | number;
  stack?: string;
}

/** An error and its causes, outermost first. */
function chainOf(error: Error): Error[] {
  const chain: Error[] = [];
  for (let at: unknown = error; at instanceof Error && !chain.includes(at); at = at.cause) chain.push(at);
  return chain;
}

/** An AggregateError, as of a connect to several addresses, may have no message of its own. */
function messageOf(error: Error): string {
  if (error.message || !(error instanceof AggregateError)) return error.message;
  return error.errors.map((one) => (one instanceof Error ? one.message : String(one))).join('; ');
}

/** Errors of the database driver: where in it they were raised says nothing. */
const OF_DRIVER = /^(?:Mongo|Pool)/;

/** The frames of the project's own code; of an error without any, the first ones. */
function framesOf(chain: Error[]): string[] {
  // A frame without a line of a file is no place.
  const isFrame = (line: string) => /^\s+at .*:\d+:\d+\)?$/.test(line);
  const stacks = chain.map(({ stack = '' }) => stack.split('\n').filter(isFrame));
  const own = stacks.map((frames) => frames.filter((frame) => !/node_modules|node:/.test(frame)));
  // The innermost one is where it began.
  const isOfDriver = chain.some(({ name }) => OF_DRIVER.test(name));
  const foreign = isOfDriver ? [] : stacks.at(-1)?.slice(0, FOREIGN_FRAMES);
  const frames = own.findLast((some) => some.length > 0) ?? foreign ?? [];
  return frames.slice(0, OWN_FRAMES).map((frame) => frame.trim());
}

/**
 * An error for the log: what happened and where in this project. Errors of the database driver have 70 lines of its
 * own frames and state, which say nothing more.
 */
export function describeError(error: unknown): DescribedError {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const chain = chainOf(error);
  const messages = chain.map(messageOf);
  const message = messages.filter(
    (text, i) => text && !messages.slice(0, i).some((one) => one.includes(text)),
  );
  const code = chain.map((one) => (one as { code?: unknown }).code).find((one) => one !== undefined);
  const frames = framesOf(chain);
  return {
    type: error.name,
    message: message.join(': '),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(frames.length > 0 ? { stack: frames.join('\n') } : {}),
  };
}
