import { type Route, route } from '../route.js';
import { caller } from './members.schema.js';

/** Ours: the interface has no such call. (contract, section 2) */
export function memberRoutes(): Route[] {
  return [
    route({
      method: 'get',
      path: '/me',
      tag: 'Members',
      id: 'readCaller',
      summary: 'Read caller',
      description: 'Says who the caller is: the member whose token was sent.',
      auth: 'required',
      limit: 'read',
      answer: caller,
      handle: async ({ actor: { no, nickname, role } }) => ({ memberNo: no, nickname, role }),
    }),
  ];
}
