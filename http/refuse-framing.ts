import type { RequestListener } from 'node:http';
import { AppError } from '../domain/kernel/errors.js';
import { framingFault, headerLines } from '../domain/kernel/framing.js';
import { JSON_TYPE, toJson } from './respond.js';

/**
 * Refuses requests whose head can be read in two ways, and closes their connections: what follows may belong to them. Node's parser refuses most of them
 * before, but not those that name two hosts.
 *
 * @param handle gets all others
 */
export function refuseFraming(handle: RequestListener): RequestListener {
  return (req, res) => {
    const fault = framingFault(headerLines(req.rawHeaders));
    if (fault === undefined) return handle(req, res);
    const body = toJson(new AppError('INVALID_INPUT', fault).body);
    res.writeHead(400, {
      'Content-Type': JSON_TYPE,
      'Content-Length': Buffer.byteLength(body),
      'X-Content-Type-Options': 'nosniff',
      Connection: 'close',
    });
    res.end(body);
  };
}
