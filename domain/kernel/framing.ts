/** Headers that decide where a request ends and for whom it is, as they are written. */
const FRAMING = new Map([
  ['host', 'Host'],
  ['content-length', 'Content-Length'],
  ['transfer-encoding', 'Transfer-Encoding'],
]);

/** A host as in an address, and its port. (RFC 9112, 3.2; RFC 3986, 3.2.2) Empty where the target names none. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/**
 * Why a request must be refused, and its connection closed, because its head can be read in two ways: a proxy, the server's
 * parser and the program above it may each take another of two headers, and disagree on where the next request begins. (RFC 9112, 3.2, 6.1 and 6.3)
 *
 * @param headers names in lower case, and values, one for each line
 * @returns a text for the client; undefined if nothing is wrong
 */
export function framingFault(headers: Iterable<readonly [name: string, value: string]>): string | undefined {
  const seen = new Map<string, string>();
  for (const [name, value] of headers) {
    const written = FRAMING.get(name);
    if (written === undefined) continue;
    if (seen.has(name)) return `${written}: is sent more than once`;
    seen.set(name, value);
  }
  if (!HOST.test(seen.get('host') ?? '')) return 'Host: must be a host name, and a port if any';
  const length = seen.get('content-length');
  const coding = seen.get('transfer-encoding');
  if (length !== undefined && coding !== undefined)
    return 'Content-Length: must not be sent with Transfer-Encoding';
  if (length !== undefined && !/^\d+$/.test(length)) return 'Content-Length: must be a whole number';
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') return 'Transfer-Encoding: must be chunked';
  return undefined;
}

/** The lines of a request that Node has parsed. @param rawHeaders names and values in turn */
export function* headerLines(rawHeaders: readonly string[]): Generator<[name: string, value: string]> {
  for (let i = 0; i + 1 < rawHeaders.length; i += 2)
    yield [(rawHeaders[i] as string).toLowerCase(), rawHeaders[i + 1] as string];
}
