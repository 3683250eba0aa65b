import type { Actor } from '../kernel/actor.js';
import type { Client } from '../kernel/client.js';
import { AppError } from '../kernel/errors.js';
import type { ChatDeps } from './chat-deps.js';
import { requireParticipant, sideOf } from './room.model.js';
import type { RoomState } from './room-states.js';

/** What may identify the caller of a call without an Authorization header. */
export interface Caller {
  /** The member whose token was sent. */
  actor?: Actor;
  /** The member whose session cookie was sent, if it is valid. */
  cookieActor?: Actor;
  /** Absent for a call from a foreign page or through an untrusted proxy, which identifies nobody. */
  client?: Client;
}

/** The sender according to a pushed payload. */
interface Claim {
  senderNo?: number | null;
  senderEmail?: string | null;
}

/** Who makes a push call, and for which room. */
export interface Poster {
  room: RoomState;
  actor: Actor;
  /** The payload names the other participant as its sender: a broadcast posted back. */
  namesOther: boolean;
}

/**
 * Numbers of the members who may have made a call, the likeliest first: the token's member and nobody else;
 * or the session cookie's, then those recently seen authenticated from the same client.
 */
export async function possibleCallers(
  { recentClients, config }: Pick<ChatDeps, 'recentClients' | 'config'>,
  { actor, cookieActor, client }: Caller,
): Promise<number[]> {
  if (actor) return [actor.no];
  if (config.LEGACY_ANONYMOUS === 'off') return [];
  const recent = client ? await recentClients.find(client) : [];
  return [...new Set([...(cookieActor ? [cookieActor.no] : []), ...recent])];
}

function unknownPoster(): AppError {
  return new AppError(
    'UNAUTHORIZED',
    'no participant of this chat room is known behind this call: send a token',
  );
}

/**
 * Who makes a push call (contract, section 4). `senderEmail`, then `senderNo` of the payload choose among the
 * members who may have made it; only with LEGACY_ANONYMOUS=open do they suffice by themselves. A caller who
 * may be one participant and names the other posts a broadcast back. (docs/decisions/posted-back.md)
 *
 * @throws AppError CHAT_ROOM_NOT_FOUND; FORBIDDEN for a token of a non-participant; UNAUTHORIZED if nobody is
 *   identified, whether there is such a room or not
 */
export async function identifyPoster(
  deps: ChatDeps,
  chatNo: number,
  caller: Caller,
  { senderNo, senderEmail }: Claim,
): Promise<Poster> {
  const isOpen = deps.config.LEGACY_ANONYMOUS === 'open';
  const known = await possibleCallers(deps, caller);
  // Before the room is looked up: a stranger does not learn which rooms exist.
  if (known.length === 0 && !isOpen) throw unknownPoster();
  const room = await deps.states.get(chatNo);
  if (caller.actor) requireParticipant(room, caller.actor.no);
  const people = await deps.directory.lookUp([room.creator, room.joiner]);
  const possible = known.filter((no) => sideOf(room, no));
  const participants = [...people.values()];
  const named = [
    participants.find(({ email }) => email === senderEmail?.toLowerCase()),
    participants.find(({ no }) => no === senderNo),
  ].filter((actor) => actor !== undefined);
  const trusted = isOpen && !caller.actor ? named[0] : undefined;
  const claimsNothing = senderNo == null && senderEmail == null;
  const likeliest = caller.actor ?? people.get(possible[0] ?? 0);
  const actor =
    named.find(({ no }) => possible.includes(no)) ??
    trusted ??
    (caller.actor || claimsNothing || named.length > 0 ? likeliest : undefined);
  if (actor) return { room, actor, namesOther: named.some(({ no }) => no !== actor.no) };
  throw unknownPoster();
}
