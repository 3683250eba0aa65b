import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';

/** V8's own default, MiB, and how many semi-spaces the limit of the whole heap includes for new objects. */
const SEMI_SPACE_MIB = 16;
const SEMI_SPACES = 3;

/** The limit of the heap without its new objects, which come and go, bytes: beyond it V8 ends the process. */
function oldSpaceLimit(): number {
  const [, mib = SEMI_SPACE_MIB] = /--max-semi-space-size=(\d+)/.exec(process.execArgv.join(' ')) ?? [];
  return getHeapStatistics().heap_size_limit - SEMI_SPACES * Number(mib) * 1024 ** 2;
}

const LIMIT = oldSpaceLimit();

/** What is used of the heap, new objects left out, as a share of its limit. */
export function oldSpaceShare(): number {
  const old = getHeapSpaceStatistics().filter(({ space_name: name }) => !name.startsWith('new_'));
  return old.reduce((total, { space_used_size: used }) => total + used, 0) / LIMIT;
}
