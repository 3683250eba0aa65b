import type { Config } from '../../domain/platform/settings/config.js';
import type { GatewaySocket } from '../connection/socket.js';

/** Frames and bytes that a connection may send until it is admitted: connect requests, an upgrade, an answer to a ping. */
export const MAX_FRAMES_UNADMITTED = 10;
export const MAX_BYTES_UNADMITTED = 32 * 1024;

/** What a network's connections may send in a window until they are admitted, for each handshake that it may make. */
export const FRAMES_PER_HANDSHAKE = 5;
export const BYTES_PER_HANDSHAKE = 8 * 1024;

/** What else a network may ask in a window, for each handshake that it may make: by default as much as of the HTTP port. */
const OTHERS_PER_HANDSHAKE = 5;

/** Between the packets of a long-polling body. (Engine.IO protocol, 4) */
const SEPARATOR = '\x1e';

/** Limits count anew after this time, ms. */
const WINDOW_MS = 10_000;

type Sizes = Pick<
  Config,
  'SOCKET_FRAMES' | 'SOCKET_BYTES' | 'SOCKET_HANDSHAKES' | 'SOCKET_UNADMITTED' | 'SOCKET_CONNECTIONS'
>;

/** A member by number, or a network by name: an IPv4 address, or a /64 of IPv6. */
type PayerKey = number | string;

/** Who pays for what a connection sends: its network until it is admitted, from then on its member. */
interface Payer {
  /** What it can still pay for in this window. */
  frames: number;
  bytes: number;
  /** Connections that it pays for: of a network, those that are not admitted yet. */
  paysFor: number;
  /** Of a network, in this window; 0 of a member. */
  handshakes: number;
  /** Other requests of a network in this window; 0 of a member. */
  asked: number;
  /** All connections of a network, those that members pay for included; 0 of a member. */
  open: number;
}

/** What a connection may still send. */
export interface Allowance {
  /** Until the admission. */
  frames: number;
  bytes: number;
  /** Unset at the end of the connection. */
  payer: Payer | undefined;
  readonly network: Payer;
  /** Set from the admission on. */
  socket: GatewaySocket | undefined;
  /** It has sent too much and is being closed. */
  isSpent: boolean;
}

/**
 * Limits what may be sent, counted before anything is parsed, and how many handshakes and connections, in all and without
 * a member, a network may make. What members may send is theirs, not a connection's: reconnecting renews nothing.
 * Each process counts alone, since a handshake cannot wait for an answer.
 */
export class ConnectionLimits {
  readonly #sizes: Sizes;
  /** Those that have connections, or had some in this window. */
  readonly #payers = new Map<PayerKey, Payer>();
  #since = performance.now();

  constructor(sizes: Sizes) {
    this.#sizes = sizes;
  }

  /** Begins windows. @returns a function that stops it */
  start(): () => void {
    const timer = setInterval(() => this.#next(), WINDOW_MS);
    timer.unref();
    return () => clearInterval(timer);
  }

  #next(): void {
    this.#since = performance.now();
    for (const [key, payer] of this.#payers) {
      if (payer.paysFor === 0 && payer.open === 0) this.#payers.delete(key);
      else this.#refill(key, payer);
    }
  }

  #refill(key: PayerKey, payer: Payer): void {
    const { SOCKET_FRAMES, SOCKET_BYTES, SOCKET_HANDSHAKES } = this.#sizes;
    const isMember = typeof key === 'number';
    payer.frames = isMember ? SOCKET_FRAMES : FRAMES_PER_HANDSHAKE * SOCKET_HANDSHAKES;
    payer.bytes = isMember ? SOCKET_BYTES : BYTES_PER_HANDSHAKE * SOCKET_HANDSHAKES;
    payer.handshakes = 0;
    payer.asked = 0;
  }

  #payer(key: PayerKey): Payer {
    let payer = this.#payers.get(key);
    if (!payer) {
      payer = { frames: 0, bytes: 0, paysFor: 0, handshakes: 0, asked: 0, open: 0 };
      this.#refill(key, payer);
      this.#payers.set(key, payer);
    }
    return payer;
  }

  /** Until the next window, ms. */
  get retryAfterMs(): number {
    return Math.max(1, Math.ceil(this.#since + WINDOW_MS - performance.now()));
  }

  /**
   * Charges a network for a request that begins a connection, or names one that does not exist.
   * @returns the limit that it would exceed; a refused request is not charged, so that it never prolongs the wait
   */
  refuses(network: string): 'handshakes' | 'unadmitted' | 'connections' | undefined {
    const payer = this.#payer(network);
    if (payer.handshakes >= this.#sizes.SOCKET_HANDSHAKES) return 'handshakes';
    if (payer.paysFor >= this.#sizes.SOCKET_UNADMITTED) return 'unadmitted';
    if (payer.open >= this.#sizes.SOCKET_CONNECTIONS) return 'connections';
    payer.handshakes += 1;
    return undefined;
  }

  /** Charges a network for any other request that belongs to no session. @returns whether it may be answered */
  asks(network: string): boolean {
    const payer = this.#payer(network);
    payer.asked += 1;
    return payer.asked <= OTHERS_PER_HANDSHAKE * this.#sizes.SOCKET_HANDSHAKES;
  }

  /** @param from the network that a new connection comes from */
  open(from: string): Allowance {
    const network = this.#payer(from);
    network.paysFor += 1;
    network.open += 1;
    return {
      frames: MAX_FRAMES_UNADMITTED,
      bytes: MAX_BYTES_UNADMITTED,
      payer: network,
      network,
      socket: undefined,
      isSpent: false,
    };
  }

  /** The connection of an allowance has ended. Does nothing the second time. */
  close(allowance: Allowance): void {
    if (!allowance.payer) return;
    allowance.payer.paysFor -= 1;
    allowance.payer = undefined;
    allowance.network.open -= 1;
  }

  /** The connection is a member's from now on. */
  admit(allowance: Allowance, socket: GatewaySocket): void {
    if (!allowance.payer) return;
    allowance.payer.paysFor -= 1;
    allowance.socket = socket;
    allowance.payer = this.#payer(socket.data.session.actor.no);
    allowance.payer.paysFor += 1;
  }

  /**
   * Packets in the body of a long-polling request but the first: the request itself has paid for it, and for the bytes; as soon as there are
   * too many, they are not counted on.
   */
  countPackets(body: string): number {
    let packets = 0;
    for (let at = body.indexOf(SEPARATOR); at >= 0; at = body.indexOf(SEPARATOR, at + 1)) {
      packets += 1;
      if (packets > this.#sizes.SOCKET_FRAMES) break;
    }
    return packets;
  }

  /** Charges frames before they are parsed. @returns whether they are allowed */
  take(allowance: Allowance, frames: number, bytes: number): boolean {
    const { payer } = allowance;
    if (!payer || allowance.isSpent) return false;
    if (!allowance.socket) {
      allowance.frames -= frames;
      allowance.bytes -= bytes;
      // Not charged to the network, whose other connections need its budget.
      if (allowance.frames < 0 || allowance.bytes < 0) return false;
    }
    payer.frames -= frames;
    payer.bytes -= bytes;
    return payer.frames >= 0 && payer.bytes >= 0;
  }
}
