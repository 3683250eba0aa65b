import type { Config } from '../../domain/platform/settings/config.js';
import { type Check, Fault, failure, ok, Skipped, shared, type Verdict, warning } from './check.js';
import { isLoopback } from './loopback.js';
import { type Answer, below, messageOf, openSocket, openStream, request } from './request.js';
import { settingOf } from './settings.js';
import { statusInPieces } from './split-request.js';

/** A certificate that expires sooner, days, should have been renewed. */
const CERTIFICATE_DAYS = 14;

/** Requests of one long-polling session: a proxy with two gateways fails to spread as many with 1 in 128. */
const POLLS = 8;

const DAY_MS = 24 * 60 * 60 * 1_000;

function judgeAnswer({ status, headers, certificateUntil }: Answer, url: string): Verdict {
  const { host, protocol, hostname } = new URL(url);
  if (status >= 300 && status < 400)
    return failure(`${host} redirects to ${headers.location}`, 'give that address with --url');
  if (status !== 200)
    return failure(
      `${host} answers ${status} to a public read`,
      'the service’s log and ports; with a proxy, its upstream',
    );
  if (protocol === 'http:' && !isLoopback(hostname))
    return warning(
      `${host} is not encrypted: tokens can be read on the way`,
      'TLS (deploy/nginx.conf.template)',
    );
  if (certificateUntil === undefined) return ok(`${host} answers`);
  const days = Math.floor((certificateUntil - Date.now()) / DAY_MS);
  if (days < CERTIFICATE_DAYS)
    return warning(`the certificate of ${host} expires in ${days} days`, 'renew it');
  return ok(`${host} answers; its certificate is valid for ${days} days`);
}

/** Metrics are for operators only. */
async function checkMetrics(url: string): Promise<Verdict> {
  const { status } = await request(below(url, '/metrics'));
  if (status !== 200) return ok('/metrics is not public');
  return warning(
    'everybody can read /metrics',
    'METRICS_TOKEN, or hide it in a proxy (deploy/nginx.conf.template)',
  );
}

/** A stream whose first event, sent at once, does not arrive is held back on the way. */
async function checkStream(base: string, token: string, isDirect: boolean): Promise<Verdict> {
  const { status, headers, first, firstMs } = await openStream(base, token);
  if (status !== undefined && status !== 200)
    return failure(
      `GET /notification/connect answers ${status}: ${messageOf(first)}`,
      'the service’s log; with a proxy, its rules for that path',
    );
  if (firstMs === undefined && isDirect)
    return failure('the first event of the event stream does not arrive', 'the service’s log');
  if (firstMs === undefined)
    return failure(
      'the proxy holds the event stream back: its first event does not arrive',
      'proxy_buffering off for /notification/connect (deploy/nginx.conf.template)',
    );
  if (headers['content-encoding'])
    return warning(
      `the proxy compresses the event stream (${headers['content-encoding']}), which may hold events back`,
      'gzip off for /notification/connect',
    );
  return ok(`an event stream delivers at once (${Math.round(firstMs)} ms)`);
}

/** @returns a remedy for /socket.io/ of an address; one that answers 404 may be that of REST only */
const withOther = (remedy: string, status: number | undefined) =>
  status === 404 ? `${remedy}, or give --gateway-url, if sockets have another address` : remedy;

async function checkSocket(base: string, token: string | undefined, isDirect: boolean): Promise<Verdict> {
  const start = await openSocket(base, token);
  if ('refused' in start)
    return failure(
      `no WebSocket to ${new URL(base).host}: ${start.refused}`,
      withOther(
        isDirect
          ? 'the log of the gateway'
          : 'the proxy must pass Upgrade and Connection for /socket.io/ (deploy/nginx.conf.template)',
        start.status,
      ),
    );
  const text = `a socket opens (${Math.round(start.openedMs)} ms)`;
  if (start.refusal === undefined) return ok(`${text}; without a token it is not admitted`);
  if (start.refusal === null) return ok(`${text}, and is admitted`);
  return failure(
    `a socket opens, but is refused: ${start.refusal}`,
    'gateways need the same key as http processes',
  );
}

/** Sends the requests of one long-polling session, each over a connection of its own, with the proxy's cookies. */
async function checkSticky(
  base: string,
  sticky: Config['GATEWAY_STICKY'] | undefined,
  url: string | undefined,
): Promise<Verdict> {
  const path = '/socket.io/?EIO=4&transport=polling';
  const opened = await request(below(base, path));
  if (opened.status === 400) {
    if (sticky !== 'on') return ok('long-polling is off, so clients may reach any gateway');
    return warning('GATEWAY_STICKY is on here, but long-polling is refused', 'restart the gateways');
  }
  const [, sid] = /"sid":"([^"]+)"/.exec(opened.body) ?? [];
  if (opened.status !== 200 || !sid)
    throw new Fault(
      `long-polling answers ${opened.status}`,
      withOther('the proxy’s rules for /socket.io/', opened.status),
    );
  const cookie = (opened.headers['set-cookie'] ?? []).map((one) => one.split(';')[0]).join('; ');
  const post = (packet: string) =>
    request(below(base, `${path}&sid=${encodeURIComponent(sid)}`), {
      method: 'POST',
      headers: { 'Content-Type': 'text/plain;charset=UTF-8', ...(cookie ? { Cookie: cookie } : {}) },
      body: packet,
    });
  for (let i = 1; i < POLLS; i += 1) {
    // A pong, which changes nothing.
    const { status } = await post('3');
    if (status !== 200)
      return failure(
        `not sticky: request ${i + 1} of a long-polling session met a gateway that does not know it (${status})`,
        'keep each client at one gateway (hash in deploy/nginx.conf.template), or GATEWAY_STICKY=off',
      );
  }
  await post('1');
  return judgePolling(`${POLLS} requests of a long-polling session met one gateway`, url);
}

/**
 * Long-polling costs the gateway more than a WebSocket, and lets a client hold requests open.
 * @param url the public address
 */
const judgePolling = (text: string, url: string | undefined): Verdict =>
  url === undefined
    ? ok(text)
    : warning(
        `${text}; anybody may open one`,
        'if all clients use WebSockets, refuse it in a proxy (deploy/nginx.conf.template)',
      );

/** Sends a handshake in pieces, which a proxy may pass on as it arrives. */
async function checkPieces(base: string): Promise<Verdict> {
  const status = await statusInPieces(below(base, '/socket.io/?EIO=4&transport=polling'));
  if (status === 505)
    return warning(
      'a handshake whose first line arrives in pieces is answered 505',
      'GATEWAY_ENGINE=ws, if clients or the proxy send it so (docs/operations.md, "What sockets run on")',
    );
  return ok('a handshake that arrives in pieces is answered as a whole one');
}

/** Whether two addresses are of one port of one machine. */
export function isSameServer(one: string, other: string | undefined): boolean {
  if (other === undefined) return false;
  const [a, b] = [new URL(one), new URL(other)];
  const isSameHost = a.hostname === b.hostname || (isLoopback(a.hostname) && isLoopback(b.hostname));
  return isSameHost && a.protocol === b.protocol && a.port === b.port;
}

interface Addresses {
  /** The public address of REST; undefined if not given. */
  url: string | undefined;
  /** Whether nothing stands between that address, or the lack of one, and the service. */
  isDirect(): Promise<boolean>;
  httpBase(): Promise<string>;
  gatewayBase(): Promise<string>;
}

/** The way through the proxy: REST, event stream, socket, long-polling. Without a --url, the local service. */
export function inspectAddress(
  config: () => Config,
  { url, isDirect, httpBase, gatewayBase }: Addresses,
  token: () => Promise<string>,
) {
  const requireUrl = () => {
    if (!url) throw new Skipped('no --url is given');
    return url;
  };
  const answer = shared('the public address does not answer', async () =>
    request(below(requireUrl(), '/community/list/recent?size=1')),
  );
  const checks: Check[] = [
    { name: 'address', run: async () => judgeAnswer(await answer.read(), requireUrl()) },
    { name: 'metrics', run: async () => (await answer.given()) && checkMetrics(requireUrl()) },
    { name: 'event stream', run: async () => checkStream(await httpBase(), await token(), await isDirect()) },
    {
      name: 'socket',
      run: async () =>
        checkSocket(await gatewayBase(), await token().catch(() => undefined), await isDirect()),
    },
    {
      name: 'sticky',
      run: async () => checkSticky(await gatewayBase(), settingOf(config, 'GATEWAY_STICKY'), url),
    },
    {
      name: 'pieces',
      run: async () => {
        requireUrl();
        return checkPieces(await gatewayBase());
      },
    },
  ];
  return { checks, answer: answer.given };
}
