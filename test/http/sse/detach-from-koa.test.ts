import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import Koa from 'koa';
import { detachFromKoa } from '../../../http/sse/detach-from-koa.js';
import { eventually } from '../../support/eventually.js';
import { collectGarbage } from '../../support/memory.js';

describe('an answer that Koa has handed over', () => {
  it('goes on without anything of its request in memory', async () => {
    const app = new Koa();
    let context: WeakRef<object> | undefined;
    let write = (_: string) => {};
    app.use(async (ctx) => {
      context = new WeakRef(ctx);
      ctx.respond = false;
      detachFromKoa(ctx);
      const { res } = ctx;
      res.writeHead(200);
      write = (text) => res.write(text);
      write('first ');
    });
    const server = createServer(app.callback()).listen(0, '127.0.0.1');
    try {
      await once(server, 'listening');
      const request = get(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      await eventually(() => expect(text).to.equal('first '));
      await eventually(() => {
        collectGarbage();
        expect(context?.deref()).to.equal(undefined);
      });
      write('second');
      await eventually(() => expect(text).to.equal('first second'));
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
