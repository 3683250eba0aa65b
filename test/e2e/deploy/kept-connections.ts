import { Agent, request } from 'node:http';
import { seededRandom } from '../../../scripts/mutate/random.js';

/*
 * A client in a process of its own: GET and POST over connections that are kept and idle for 0 to 6 s between requests, and
 * over new ones, without retries. On SIGTERM it prints what became of them, as JSON.
 * Arguments: the base address, an access token, how many connections to keep, a seed.
 */

/** Longest pause on a connection, ms: a second more than the service announces. */
const IDLE_MS = 6_000;

/** What became of the requests. */
export interface Seen {
  /** With status 200; those of them on a connection that had been used before. */
  answered: number;
  reused: number;
  /** A line for each of the others. */
  failures: string[];
}

const [base = '', token = '', count = '0', seed = '0'] = process.argv.slice(2);
const below = seededRandom(Number(seed));
const seen: Seen = { answered: 0, reused: 0, failures: [] };

function ask(agent: Agent | false, method: 'GET' | 'POST'): Promise<void> {
  const [path, body] = method === 'GET' ? ['/me'] : ['/notification', '{"idList":[]}'];
  const started = Date.now();
  return new Promise((resolve) => {
    const failed = (why: string) => {
      const on = sent.reusedSocket ? 'a kept' : 'a new';
      seen.failures.push(`${method} on ${on} connection, ${Date.now() - started} ms: ${why}`);
      resolve();
    };
    const sent = request(base + path, { method, agent, headers: { Authorization: token } }, (answer) => {
      answer.on('error', ({ message }) => failed(message));
      answer.on('end', () => {
        if (answer.statusCode !== 200) return failed(`status ${answer.statusCode}`);
        seen.answered += 1;
        if (sent.reusedSocket) seen.reused += 1;
        resolve();
      });
      answer.resume();
    });
    sent.on('error', ({ message }) => failed(message));
    sent.end(body);
  });
}

let running = true;

async function useConnection(agent: Agent | false): Promise<void> {
  while (running) {
    await ask(agent, below(2) === 0 ? 'GET' : 'POST');
    await new Promise((resolve) => setTimeout(resolve, below(IDLE_MS)));
  }
}

for (let i = 0; i < Number(count); i += 1) {
  // Without a time-out an agent ignores what the service announces. A fifth of the requests are on new connections.
  const agent = i % 5 === 4 ? false : new Agent({ keepAlive: true, maxSockets: 1 });
  void useConnection(agent);
}
process.once('SIGTERM', () => {
  running = false;
  process.stdout.write(`${JSON.stringify(seen)}\n`, () => process.exit(0));
});
process.send?.('started');
