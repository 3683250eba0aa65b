import type { ServerOptions } from 'socket.io';

/** How often requests are looked at, ms. */
const CHECK_MS = 5_000;

/** How long the answer to a request may take, ms: a poll is answered by the next ping at the latest. */
export const answerTime = ({ pingInterval = 0, pingTimeout = 0 }: Partial<ServerOptions>): number =>
  pingInterval + pingTimeout;

/**
 * The requests that are not answered yet. None should be for longer than a poll may wait: its connection is closed,
 * whatever has become of its answer.
 */
export class Unanswered<T> {
  /** When each arrived, by performance.now(), the oldest first. */
  readonly #since = new Map<T, number>();
  readonly #timer: NodeJS.Timeout;

  /**
   * @param maxMs time for an answer
   * @param close closes the connection of a request
   */
  constructor(maxMs: number, close: (request: T) => void) {
    this.#timer = setInterval(() => {
      const oldest = performance.now() - maxMs;
      for (const [request, since] of this.#since) {
        if (since > oldest) return;
        this.#since.delete(request);
        close(request);
      }
    }, CHECK_MS);
    this.#timer.unref();
  }

  add(request: T): void {
    this.#since.set(request, performance.now());
  }

  /** It has been answered, or its connection has ended. */
  delete(request: T): void {
    this.#since.delete(request);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
