import { Decoder } from 'socket.io-parser';

/** A packet on its way out. */
interface Packet {
  type: number;
  nsp?: string;
  id?: number;
  data?: unknown;
}

/**
 * Writes packets as text: type, namespace where it is not the main one, id, JSON. (Socket.IO protocol, 5) The
 * package's own encoder looks through every packet for binary data first, and nothing of ours has any.
 */
class TextEncoder {
  /** @returns the packet's one frame */
  encode({ type, nsp, id, data }: Packet): [string] {
    const namespace = nsp === undefined || nsp === '/' ? '' : `${nsp},`;
    return [`${type}${namespace}${id ?? ''}${data == null ? '' : JSON.stringify(data)}`];
  }
}

/** The `parser` of the Socket.IO server: reads as the package does. */
export const textParser = { Encoder: TextEncoder, Decoder };
