import type { Middleware } from 'koa';
import { AppError } from '../../domain/kernel/errors.js';

/** A host as in an address, and its port. (RFC 9112, 3.2; RFC 3986, 3.2.2) Empty where the target names none. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/**
 * Refuses requests with several `Host` headers, or with one that is none, and ends their connection: a proxy may route by
 * another one than the service reads. (RFC 9112, 3.2) Node itself refuses those without one.
 */
export const oneHost: Middleware = async (ctx, next) => {
  const { rawHeaders } = ctx.req;
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]?.toLowerCase() === 'host') count += 1;
  if (count > 1 || !HOST.test(ctx.get('Host'))) {
    ctx.set('Connection', 'close');
    const why = count > 1 ? 'is sent more than once' : 'must be a host name, and a port if any';
    throw new AppError('INVALID_INPUT', `Host: ${why}`);
  }
  await next();
};
