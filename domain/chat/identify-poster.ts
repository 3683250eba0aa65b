import type { Person } from '../kernel/actor.js';
import { AppError } from '../kernel/errors.js';
import type { ChatDeps } from './chat-deps.js';
import { requireParticipant } from './room.model.js';
import type { RoomState } from './room-states.js';

/** What may identify the caller of a call without an Authorization header. */
export interface Caller {
  /** The member whose token was sent. */
  actor?: Person | undefined;
  /** The member whose session cookie was sent, if it is valid. */
  cookieActor?: Person | undefined;
  /** Hash of the client, if it identifies anybody (kernel/client.ts). */
  client?: string | undefined;
}

/** The sender according to a pushed payload. */
interface Claim {
  senderNo?: number | null;
  senderEmail?: string | null;
}

/** Who makes a push call, and for which room. */
export interface Poster {
  room: RoomState;
  actor: Person;
  /** The payload names the other participant as its sender: a broadcast posted back. */
  namesOther: boolean;
}

/**
 * The room's participants who may have made a call without a token, the likeliest first: the session cookie's member,
 * then those who recently opened or listed the room from the same client with a token.
 */
export async function possibleCallers(
  { recentClients }: Pick<ChatDeps, 'recentClients'>,
  { chatNo, creator, joiner }: RoomState,
  { cookieActor, client }: Caller,
): Promise<number[]> {
  const participants = [creator, joiner];
  const recent = client ? await recentClients.find(client, chatNo, participants) : [];
  const byCookie = participants.filter((no) => no === cookieActor?.no);
  return [...new Set([...byCookie, ...recent])];
}

function unknownPoster(): AppError {
  return new AppError(
    'UNAUTHORIZED',
    'no participant of this chat room is known behind this call: send a token',
  );
}

/**
 * LEGACY_ANONYMOUS=off demands a token of every push, whatever it says.
 * @throws AppError UNAUTHORIZED
 */
export function requireToken({ config }: Pick<ChatDeps, 'config'>, { actor }: Caller): void {
  if (!actor && config.LEGACY_ANONYMOUS === 'off') throw unknownPoster();
}

/**
 * Who makes a push call (contract, section 4). `senderEmail`, then `senderNo` of the payload choose among the
 * members who may have made it; only with LEGACY_ANONYMOUS=open do they suffice by themselves. A caller who
 * may be one participant and names the other posts a broadcast back. (docs/decisions/posted-back.md)
 *
 * @throws AppError with a token CHAT_ROOM_NOT_FOUND, FORBIDDEN to a non-participant; without one UNAUTHORIZED
 *   if nobody is identified, whether there is such a room or not
 */
export async function identifyPoster(
  deps: ChatDeps,
  chatNo: number,
  caller: Caller,
  { senderNo, senderEmail }: Claim,
): Promise<Poster> {
  const { actor: tokenActor } = caller;
  requireToken(deps, caller);
  const isOpen = !tokenActor && deps.config.LEGACY_ANONYMOUS === 'open';
  const room = tokenActor ? await deps.states.get(chatNo) : await deps.states.glance(chatNo);
  if (!room) throw unknownPoster();
  if (tokenActor) requireParticipant(room, tokenActor.no);
  const possible = tokenActor ? [tokenActor.no] : await possibleCallers(deps, room, caller);
  const people = await deps.directory.lookUp([room.creator, room.joiner]);
  const participants = [...people.values()];
  const named = [
    participants.find(({ email }) => email === senderEmail?.toLowerCase()),
    participants.find(({ no }) => no === senderNo),
  ].filter((actor) => actor !== undefined);
  const claimsNothing = senderNo == null && senderEmail == null;
  const likeliest = tokenActor ?? people.get(possible[0] ?? 0);
  const actor =
    named.find(({ no }) => possible.includes(no)) ??
    (isOpen ? named[0] : undefined) ??
    (tokenActor || claimsNothing || named.length > 0 ? likeliest : undefined);
  if (actor) return { room, actor, namesOther: named.some(({ no }) => no !== actor.no) };
  throw unknownPoster();
}
