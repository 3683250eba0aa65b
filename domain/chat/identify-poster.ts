import type { Actor } from '../kernel/actor.js';
import type { Client } from '../kernel/client.js';
import { AppError } from '../kernel/errors.js';
import { requireParticipant } from './chat.policy.js';
import type { ChatDeps } from './chat-deps.js';
import { sideOf } from './room.model.js';
import type { RoomState } from './room-states.js';

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

/** Who makes a push call, and for which room. */
export interface Poster {
  room: RoomState;
  actor: Actor;
  /** The payload names the other participant as its sender: what is posted is theirs, come back. */
  namesOther: boolean;
}

/**
 * Numbers of the members whom a call may speak for, the likeliest first: the token's member and nobody
 * else; or the session cookie's, then those lately seen authenticated from the same client.
 */
export async function membersBehind(
  { recentClients, config }: Pick<ChatDeps, 'recentClients' | 'config'>,
  { actor, cookieActor, client }: Caller,
): Promise<number[]> {
  if (actor) return [actor.no];
  if (config.LEGACY_ANONYMOUS === 'off') return [];
  const bound = client ? await recentClients.find(client) : [];
  return [...new Set([...(cookieActor ? [cookieActor.no] : []), ...bound])];
}

function unknownPoster(): AppError {
  return new AppError(
    'UNAUTHORIZED',
    'no participant of this chat room is known behind this call: send a token',
  );
}

/**
 * Who makes a push call (contract, section 4). `senderNo` and `senderEmail` of the payload pick among
 * those the call may speak for, the address first; only where LEGACY_ANONYMOUS is `open` do they name
 * a participant by themselves. Whoever may speak for one participant and names the other posts a
 * broadcast back. (docs/decisions/posted-back.md)
 *
 * @throws AppError CHAT_ROOM_NOT_FOUND; FORBIDDEN for a token of a non-participant; UNAUTHORIZED when nobody
 *   fits, whether there is such a room or not
 */
export async function identifyPoster(
  deps: ChatDeps,
  chatNo: number,
  caller: Caller,
  { senderNo, senderEmail }: Claim,
): Promise<Poster> {
  const isOpen = deps.config.LEGACY_ANONYMOUS === 'open';
  const known = await membersBehind(deps, caller);
  // Before the room is looked up: a stranger does not learn which rooms there are.
  if (known.length === 0 && !isOpen) throw unknownPoster();
  const room = await deps.states.get(chatNo);
  if (caller.actor) requireParticipant(room, caller.actor.no);
  const people = await deps.directory.lookUp([room.creator, room.joiner]);
  const behind = known.filter((no) => sideOf(room, no));
  const participants = [...people.values()];
  const named = [
    participants.find(({ email }) => email === senderEmail?.toLowerCase()),
    participants.find(({ no }) => no === senderNo),
  ].filter((actor) => actor !== undefined);
  const believed = isOpen && !caller.actor ? named[0] : undefined;
  const claimsNothing = senderNo == null && senderEmail == null;
  const likeliest = caller.actor ?? people.get(behind[0] ?? 0);
  const actor =
    named.find(({ no }) => behind.includes(no)) ??
    believed ??
    (caller.actor || claimsNothing || named.length > 0 ? likeliest : undefined);
  if (actor) return { room, actor, namesOther: named.some(({ no }) => no !== actor.no) };
  throw unknownPoster();
}
