import type { Socket } from 'node:net';
import { identifyClient, networkOf } from '../../kernel/client.js';

/** Counts the open connections of each address; of IPv6 addresses a /64 counts as one. */
export class ConnectionsPerAddress {
  readonly #most: number;
  readonly #counts = new Map<string, number>();

  /** @param most connections that an address may have */
  constructor(most: number) {
    this.#most = most;
  }

  /** Counts a connection until it closes. @returns false if its address has too many: it is not counted then */
  add(socket: Socket): boolean {
    const { address } = identifyClient(socket.remoteAddress ?? '', {}, 0, () => true);
    const network = networkOf(address);
    if ((this.#counts.get(network) ?? 0) >= this.#most) return false;
    this.#change(network, 1);
    // Emitted once; `once` would take memory of its own for as long as the connection is open.
    socket.on('close', () => this.#change(network, -1));
    return true;
  }

  #change(network: string, by: 1 | -1): void {
    const count = (this.#counts.get(network) ?? 0) + by;
    if (count > 0) this.#counts.set(network, count);
    else this.#counts.delete(network);
  }
}
