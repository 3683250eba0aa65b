import type { Domain } from '../../domain/domain.js';
import { respondSerialised } from '../respond.js';
import { type Route, route } from '../route.js';
import { renderQuery } from './adoption.schema.js';

/**
 * The documented adoption listing. It may be some megabytes, and is the same for all: its bytes are
 * kept for as long as the domain returns the same list.
 */
export function adoptionRoutes({ adoption }: Pick<Domain, 'adoption'>): Route[] {
  const serialised = new WeakMap<object, Buffer>();

  return [
    route({
      method: 'get',
      path: '/adopt/render',
      // The interface shows it without a token; one that is sent and bad is refused all the same.
      auth: 'optional',
      limit: 'read',
      query: renderQuery,
      async handle({ ctx }) {
        const records = await adoption.listRenderRecords();
        const json = serialised.get(records) ?? Buffer.from(JSON.stringify(records));
        serialised.set(records, json);
        respondSerialised(ctx, json);
      },
    }),
  ];
}
