import type { Domain } from '../../domain/domain.js';
import { respondSerialised, toJson } from '../respond.js';
import { type Route, route } from '../route.js';
import { renderQuery, renderRecords } from './adoption.schema.js';

/**
 * The documented adoption listing. It may be several megabytes and is the same for all callers: its bytes are
 * cached while the domain returns the same list.
 */
export function adoptionRoutes({ adoption }: Pick<Domain, 'adoption'>): Route[] {
  const serialised = new WeakMap<object, Buffer>();

  return [
    route({
      method: 'get',
      path: '/adopt/render',
      tag: 'Adoption listing',
      id: 'listRenderRecords',
      summary: 'List render records',
      description:
        'Returns the adoption posts as a map renders them, highest number first, at most 50,000 and 16 MiB. No token is needed.',
      auth: 'optional',
      limit: 'read',
      query: renderQuery,
      answer: renderRecords,
      async handle({ ctx }) {
        const records = await adoption.listRenderRecords();
        const json = serialised.get(records) ?? Buffer.from(toJson(records));
        serialised.set(records, json);
        respondSerialised(ctx, json);
        return undefined;
      },
    }),
  ];
}
