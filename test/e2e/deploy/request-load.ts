import { Agent, request } from 'node:http';
import { createTestProcess } from '../../support/child-process.js';
import { createRandom } from '../../support/random.js';
import type { Seen } from './kept-connections.js';

/** One request of the load. */
interface Shot {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  json?: unknown;
}

/** Pause of each worker between requests, ms. Without one, a load would take all of the CPU time that the tests beside it need. */
const REST_MS = 100;

function shoot(
  base: string,
  agent: Agent,
  shot: Shot,
): Promise<{ status: number; reused: boolean; text: string }> {
  return new Promise((resolve, reject) => {
    const body = shot.json === undefined ? undefined : JSON.stringify(shot.json);
    const headers = {
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...shot.headers,
    };
    const sent = request(base + shot.path, { method: shot.method ?? 'GET', agent, headers }, (answer) => {
      let text = '';
      answer.on('data', (chunk) => {
        text += chunk;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, reused: sent.reusedSocket, text }));
      answer.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/**
 * Sends requests over kept-alive connections, without retries: what a client that gives up at once would see.
 * (contract, promise 6)
 *
 * @param workers number of requests in flight
 * @param next returns each request
 */
export function startRequests(base: string, workers: number, next: (turn: number) => Shot) {
  // With a time-out, as node's global agent has: without one an agent ignores the server's
  // `Keep-Alive: timeout=5`, and may use a connection that is being closed.
  const agent = new Agent({ keepAlive: true, maxSockets: workers, timeout: 5_000 });
  const failures: string[] = [];
  let answered = 0;
  let reused = 0;
  let turn = 0;
  let running = true;

  async function work(): Promise<void> {
    while (running) {
      turn += 1;
      const shot = next(turn);
      try {
        const answer = await shoot(base, agent, shot);
        if (answer.status === 200) answered += 1;
        else failures.push(`${shot.method ?? 'GET'} ${shot.path}: ${answer.text.slice(0, 200)}`);
        if (answer.reused) reused += 1;
      } catch (error) {
        failures.push(`${shot.method ?? 'GET'} ${shot.path}: ${(error as Error).message}`);
      }
      await new Promise((resolve) => setTimeout(resolve, REST_MS));
    }
  }
  const all = Promise.all(Array.from({ length: workers }, work));

  return {
    /** One line per request without an answer, or with another status than 200. */
    failures,
    /** Requests answered with status 200. */
    get answered() {
      return answered;
    },
    /** Requests over a reused connection. */
    get reused() {
      return reused;
    },
    async stop(): Promise<void> {
      running = false;
      await all;
      agent.destroy();
    },
  };
}

/** Starts a client in a process of its own that uses so many connections after pauses. @returns a function that ends it */
export async function startKeptConnections(
  base: string,
  { token }: { token: string },
  count: number,
  folder: string,
): Promise<() => Promise<Seen>> {
  const { seed } = createRandom('KEPT_CONNECTIONS_SEED');
  const client = createTestProcess({
    name: 'kept connections',
    path: 'test/e2e/deploy/kept-connections.js',
    args: [base, token, String(count), String(seed)],
    folder,
    env: {},
  });
  await client.start();
  return async () => {
    await client.kill('SIGTERM');
    return JSON.parse(client.log) as Seen;
  };
}
