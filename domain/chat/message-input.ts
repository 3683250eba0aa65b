import { z } from 'zod';
import { text } from '../kernel/input.js';
import { contentTypes } from './message.model.js';

/** Longest message text, in UTF-16 code units. */
const MAX_TEXT = 5_000;

/** Longest address of an image, in characters. */
const MAX_ADDRESS = 2_048;

/** `lat lng` in decimal degrees. */
const COORDS = /^(-?\d{1,2}(?:\.\d{1,15})?) (-?\d{1,3}(?:\.\d{1,15})?)$/;

function areCoords(content: string): boolean {
  const match = COORDS.exec(content);
  return match !== null && Math.abs(Number(match[1])) <= 90 && Math.abs(Number(match[2])) <= 180;
}

/** What both doors, socket and push, accept as a message. (contract, section 4) */
export const messageFields = {
  contentType: z.enum(contentTypes, `must be one of ${contentTypes.join(', ')}`).meta({
    description: 'kind of content: text, image or picture (an address), coords ("latitude longitude")',
  }),
  content: text(MAX_TEXT).meta({
    description: 'the text, address or coordinates (decimal degrees)',
    example: 'Is Bori still looking for a home?',
  }),
};

/** The rules that join the two fields; a zod check to be added behind the object that holds them. */
export function checkContent(
  { contentType, content }: { contentType: string; content: string },
  ctx: z.RefinementCtx,
): void {
  const fault =
    contentType === 'coords' && !areCoords(content)
      ? 'must be "latitude longitude" in decimal degrees'
      : (contentType === 'image' || contentType === 'picture') && content.length > MAX_ADDRESS
        ? `must have at most ${MAX_ADDRESS} characters`
        : undefined;
  if (fault) ctx.addIssue({ code: 'custom', path: ['content'], message: fault });
}
