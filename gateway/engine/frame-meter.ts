/*
 * How much clients send on WebSockets. (RFC 6455, section 5.2)
 */

/** Bytes of a client's mask. */
const MASK = 4;

/** Bytes of a client's frame, with its header. @param length of its payload */
export function frameBytes(length: number): number {
  return length + (length < 126 ? 6 : length < 65_536 ? 8 : 14);
}

/** Finds the frames in what a client sends, whatever they hold and whether they are complete. */
export class FrameMeter {
  /** Bytes of the frame under way that follow its length. */
  #rest = 0;
  /** Whether the next byte is a frame's second. */
  #isSecond = false;
  /** Bytes of a long length that are still to come. */
  #lengthBytes = 0;

  /** @param chunk the next bytes. @returns how many frames begin in them */
  count(chunk: Buffer): number {
    let frames = 0;
    for (let at = 0; at < chunk.length; ) {
      if (this.#lengthBytes === 0 && this.#rest > 0) {
        const passed = Math.min(this.#rest, chunk.length - at);
        this.#rest -= passed;
        at += passed;
      } else {
        frames += this.#readHead(chunk[at] as number);
        at += 1;
      }
    }
    return frames;
  }

  /** @returns 1 for the first byte of a frame, else 0 */
  #readHead(byte: number): number {
    if (this.#lengthBytes > 0) {
      this.#rest = this.#rest * 256 + byte;
      this.#lengthBytes -= 1;
      if (this.#lengthBytes === 0) this.#rest += MASK;
      return 0;
    }
    this.#isSecond = !this.#isSecond;
    if (this.#isSecond) return 1;
    const length = byte & 127;
    if (length < 126) this.#rest = length + MASK;
    else this.#lengthBytes = length === 126 ? 2 : 8;
    return 0;
  }
}
