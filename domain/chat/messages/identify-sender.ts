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
  client: Client;
}

/**
 * The participants of a room whom a call may speak for, the likeliest first: the token's member and
 * nobody else; or the session cookie's, then those lately seen authenticated from the same client.
 */
export async function participantsBehind(
  { bindings, config, directory }: ChatDeps,
  room: { creator: number; joiner: number },
  caller: Caller,
): Promise<Actor[]> {
  if (caller.actor) return sideOf(room, caller.actor.no) ? [caller.actor] : [];
  if (config.LEGACY_ANONYMOUS === 'off') return [];
  const fromCookie = caller.cookieActor && sideOf(room, caller.cookieActor.no) ? [caller.cookieActor] : [];
  const bound = (await bindings.find(caller.client)).filter((no) => sideOf(room, no));
  const people = await directory.lookUp(bound);
  const candidates = [
    ...fromCookie,
    ...bound.map((no) => people.get(no)).filter((actor) => actor !== undefined),
  ];
  return candidates.filter((actor, i) => candidates.findIndex(({ no }) => no === actor.no) === i);
}

/**
 * Who sends a pushed message (contract, section 4). `senderNo` and `senderEmail` of the payload pick
 * among those the call may speak for; only where LEGACY_ANONYMOUS is `open` do they name a
 * participant by themselves.
 *
 * @throws AppError FORBIDDEN for a token of a non-participant; UNAUTHORIZED when nobody fits
 */
export async function identifySender(
  deps: ChatDeps,
  room: { creator: number; joiner: number },
  caller: Caller,
  claimed: { senderNo?: number | null; senderEmail?: string | null },
): Promise<Actor> {
  if (caller.actor) {
    requireParticipant(room, caller.actor.no);
    return caller.actor;
  }
  const fits = (actor: Actor) =>
    (claimed.senderNo == null || actor.no === claimed.senderNo) &&
    (claimed.senderEmail == null || actor.email === claimed.senderEmail.toLowerCase());
  const known = (await participantsBehind(deps, room, caller)).find(fits);
  if (known) return known;
  if (deps.config.LEGACY_ANONYMOUS === 'open' && (claimed.senderNo != null || claimed.senderEmail != null)) {
    const people = await deps.directory.lookUp([room.creator, room.joiner]);
    const named = [...people.values()].find(fits);
    if (named) return named;
  }
  throw new AppError(
    'UNAUTHORIZED',
    'no participant of this chat room is known behind this call: send a token',
  );
}
