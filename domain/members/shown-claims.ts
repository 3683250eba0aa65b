/**
 * What others see of a member is made fit to be shown, wherever it comes from: a token, an import, or a record that an
 * earlier version stored. (contract, section 2)
 */
import { isImageAddress } from '../kernel/image-address.js';
import { codePoints, shortened } from '../kernel/shortened.js';

/** Longest name shown, code points. */
export const MAX_NAME = 50;

/** Longest address of a picture, code points. */
export const MAX_PICTURE = 2_048;

/**
 * Control characters, line and paragraph separators, and the characters that change the direction of the text around
 * them: a name would break the line, or turn what an app shows beside it.
 */
const NOT_SHOWN = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/**
 * A name as it is shown: well-formed, without the characters that are not shown, and at most MAX_NAME long.
 * @returns undefined if nothing is left
 */
export function shownName(name: string): string | undefined {
  const text = name.toWellFormed().replace(NOT_SHOWN, '').trim();
  return shortened(text, MAX_NAME) || undefined;
}

/**
 * The address of a picture as it is shown: well-formed. One that is too long is not cut: it would be another address.
 * @returns undefined for that, for one of no image, and for an empty one
 */
export function shownPicture(address: string): string | undefined {
  const text = address.toWellFormed().trim();
  return text && codePoints(text) <= MAX_PICTURE && isImageAddress(text) ? text : undefined;
}
