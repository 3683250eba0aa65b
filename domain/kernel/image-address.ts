/** A scheme at the beginning of an address (RFC 3986, section 3.1). */
const SCHEME = /^[a-z][a-z\d+.-]*:/i;

/** `data:` addresses of images, but for SVG: an image of that kind is a document that may hold scripts. */
const IMAGE_DATA = /^data:image\/(?!svg)[\w.+-]+[;,]/i;

/** Browsers skip tabs and line breaks anywhere in an address, so `java\nscript:` would be a scheme. */
const CONTROL = /\p{Cc}/u;

/** What is wrong with an address that is none of an image. */
export const NO_IMAGE_ADDRESS = 'must be an http(s) address, a path or a data URL of an image other than SVG';

/**
 * Whether apps may load a text as an image: an http(s) address, a path (with or without a leading slash, the text `NONE`
 * of the legacy app included), or a `data:` address of an image. Anything with another scheme, such as `javascript:`,
 * is not. (contract, section 2)
 */
export function isImageAddress(text: string): boolean {
  if (CONTROL.test(text)) return false;
  // Browsers skip blanks at the beginning.
  const [scheme] = SCHEME.exec(text.trimStart()) ?? [];
  return scheme === undefined || /^https?:$/i.test(scheme) || IMAGE_DATA.test(text.trimStart());
}

/** The address of an image as it is shown: earlier versions stored any text. Empty for what is none, or absent. */
export const shownImage = (address: string | undefined): string =>
  address !== undefined && isImageAddress(address) ? address : '';
