import { loadScript } from '../platform/redis/script.js';

/** `what` in a row of refresh.lua's news. */
export const GONE = 0;
export const CLEARED = 2;

/** What refresh.lua tells of a member. */
export type NewsRow = [position: number, memberNo: number, what: number, version: number];

/** Who is in a room by Redis, as of the version of its latest change. */
export type RoomAnswer = [version: number, ...memberNos: number[]];

function script(name: string) {
  return loadScript('domain/chat/presence.room.lua', `domain/chat/presence.${name}.lua`);
}

/** The scripts beside this file; each says at its head what it takes and returns. */
export function loadPresenceScripts() {
  return {
    enter: script('enter'),
    leave: script('leave'),
    clear: script('clear'),
    list: script('list'),
    refresh: script('refresh'),
  };
}
