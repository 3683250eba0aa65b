import type { Actor } from '../../kernel/actor.js';
import type { Client } from '../../kernel/client.js';
import { AppError } from '../../kernel/errors.js';
import { requireParticipant } from '../chat.policy.js';
import type { ChatDeps } from '../chat-deps.js';
import { sideOf } from './message.presenter.js';

/** What a call without an Authorization header has to show for itself. */
export interface Caller {
  /** Whose token was sent, if one was. */
  actor?: Actor;
  /** Whose session cookie was sent, if one was and it still holds. */
  cookieActor?: Actor;
  /** Where it comes from, if that tells anything: not from a foreign page, nor through an unknown proxy. */
  client?: Client;
}

/** What a pushed payload says of its sender. */
interface Claim {
  senderNo?: number | null;
  senderEmail?: string | null;
}

/** Who makes a push call. */
export interface Poster {
  actor: Actor;
  /** The payload names the other participant as its sender: what is posted is theirs, come back. */
  namesOther: boolean;
}

/**
 * Numbers of the members whom a call may speak for, the likeliest first: the token's member and nobody
 * else; or the session cookie's, then those lately seen authenticated from the same client.
 */
export async function membersBehind(
  { bindings, config }: Pick<ChatDeps, 'bindings' | 'config'>,
  { actor, cookieActor, client }: Caller,
): Promise<number[]> {
  if (actor) return [actor.no];
  if (config.LEGACY_ANONYMOUS === 'off') return [];
  const bound = client ? await bindings.find(client) : [];
  return [...new Set([...(cookieActor ? [cookieActor.no] : []), ...bound])];
}

/**
 * Who makes a push call (contract, section 4). `senderNo` and `senderEmail` of the payload pick among
 * those the call may speak for, the address first; only where LEGACY_ANONYMOUS is `open` do they name
 * a participant by themselves. Whoever may speak for one participant and names the other posts a
 * broadcast back. (docs/decisions/posted-back.md)
 *
 * @throws AppError FORBIDDEN for a token of a non-participant; UNAUTHORIZED when nobody fits
 */
export async function identifyPoster(
  deps: ChatDeps,
  room: { creator: number; joiner: number },
  caller: Caller,
  { senderNo, senderEmail }: Claim,
): Promise<Poster> {
  if (caller.actor) requireParticipant(room, caller.actor.no);
  const claimsNothing = senderNo == null && senderEmail == null;
  if (caller.actor && claimsNothing) return { actor: caller.actor, namesOther: false };
  const people = await deps.directory.lookUp([room.creator, room.joiner]);
  const behind = (await membersBehind(deps, caller)).filter((no) => sideOf(room, no));
  const participants = [...people.values()];
  const named = [
    participants.find(({ email }) => email === senderEmail?.toLowerCase()),
    participants.find(({ no }) => no === senderNo),
  ].filter((actor) => actor !== undefined);
  const believed = deps.config.LEGACY_ANONYMOUS === 'open' && !caller.actor ? named[0] : undefined;
  const likeliest = caller.actor ?? people.get(behind[0] ?? 0);
  const actor =
    named.find(({ no }) => behind.includes(no)) ??
    believed ??
    (caller.actor || claimsNothing || named.length > 0 ? likeliest : undefined);
  if (actor) return { actor, namesOther: named.some(({ no }) => no !== actor.no) };
  throw new AppError(
    'UNAUTHORIZED',
    'no participant of this chat room is known behind this call: send a token',
  );
}
