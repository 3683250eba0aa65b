import type { Config } from '../domain/platform/settings/config.js';
import type { Publisher } from './engine/engine.js';

/** One message in so many is not delivered as it should be. */
const EVERY = 1_000;

/**
 * Has the gateway deliver wrongly, where PLANTED_FAULT names a fault of pushes (domain/planted-fault.ts): after the
 * sequencer, which would mend it.
 * @returns the publisher itself if there is none
 */
export function plantInPublisher(fault: Config['PLANTED_FAULT'], publisher: Publisher): Publisher {
  if (fault !== 'drop-push' && fault !== 'swap-pushes' && fault !== 'double-push') return publisher;
  const { event, prepare } = publisher;
  let messages = 0;
  /** The message that is delivered after the next one of its room. */
  let held: [room: string, payload: unknown] | undefined;
  return {
    prepare: prepare.bind(publisher),
    event(room, name, payload, json) {
      const send = event.bind(publisher, room, name, payload, json);
      if (name !== 'message') return send();
      messages += 1;
      const isDue = messages % EVERY === 0;
      if (isDue && fault === 'drop-push') return undefined;
      if (isDue && fault === 'swap-pushes' && !held) {
        held = [room, payload];
        return undefined;
      }
      send();
      if (isDue && fault === 'double-push') send();
      if (held?.[0] === room) {
        event.call(publisher, room, name, held[1]);
        held = undefined;
      }
      return undefined;
    },
  };
}
