import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';

/** Why a message from Redis was dropped. */
export type DropReason = 'malformed' | 'too-large' | 'unknown' | 'unsigned';

/** Thrown for a message that must have no effect. */
export class RejectedMessage extends Error {
  readonly reason: DropReason;

  constructor(reason: DropReason, text: string) {
    super(text);
    this.reason = reason;
  }
}

/** Characters of a signature: 128 bits in base64url, half of SHA-256 (RFC 2104, section 5). */
const SIGNATURE_LENGTH = 22;

/**
 * What processes publish: a signature, if there is a key, the sender's id, and the text. The signature covers the
 * channel, too: a message to one room or member cannot be published to another.
 */
export class MessageSeal {
  readonly #sender: string;
  readonly #key: KeyObject | undefined;

  /**
   * @param sender this process's id, of the same length on every process
   * @param key REDIS_SIGNING_KEY
   */
  constructor(sender: string, key: string | undefined) {
    this.#sender = sender;
    this.#key = key === undefined ? undefined : createSecretKey(key, 'utf8');
  }

  get isSigned(): boolean {
    return this.#key !== undefined;
  }

  seal(channel: string, text: string): string {
    const message = this.#sender + text;
    return this.#key ? this.#sign(this.#key, channel, message) + message : message;
  }

  /**
   * @returns the text; undefined if this process published it
   * @throws RejectedMessage if the signature is missing or wrong
   */
  open(channel: string, sealed: Buffer): string | undefined {
    const message = this.#key ? sealed.subarray(SIGNATURE_LENGTH) : sealed;
    const { length } = this.#sender;
    // Before the signature, which costs more: whoever forges the sender is ignored.
    if (message.toString('latin1', 0, length) === this.#sender) return undefined;
    if (this.#key) {
      const signature = Buffer.from(this.#sign(this.#key, channel, message));
      const given = sealed.subarray(0, SIGNATURE_LENGTH);
      if (given.length < SIGNATURE_LENGTH || !timingSafeEqual(given, signature)) {
        throw new RejectedMessage('unsigned', `a message without our signature on ${channel}`);
      }
    }
    return message.toString('utf8', length);
  }

  #sign(key: KeyObject, channel: string, message: string | Buffer): string {
    const hmac = createHmac('sha256', key).update(`${channel}\0`).update(message);
    return hmac.digest('base64url').slice(0, SIGNATURE_LENGTH);
  }
}
