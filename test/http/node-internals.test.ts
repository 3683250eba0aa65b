import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect } from 'chai';
import Koa from 'koa';
import { bytesTaken, detachFromKoa, releaseHeaders, stopAccepting } from '../../http/node-internals.js';
import { eventually } from '../support/eventually.js';
import { collectGarbage } from '../support/memory.js';

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

describe('internals of Node and Koa', () => {
  let server: ReturnType<typeof createServer>;
  let client: Socket;
  let received: string;

  /** Starts a server, and sends it a text. */
  async function serve(listener: RequestListener, text: string): Promise<void> {
    server = createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    received = '';
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client
      .on('error', () => {})
      .on('data', (chunk) => {
        received += chunk;
      });
    client.write(text);
  }
  afterEach(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });

  it('close of a net.Server leaves idle HTTP connections open', async () => {
    await serve((_, res) => res.end('done'), REQUEST);
    await eventually(() => expect(received).to.match(/done/));
    const { port } = server.address() as AddressInfo;
    let closed = false;
    stopAccepting(server, () => {
      closed = true;
    });
    const [error] = await once(connect(port, '127.0.0.1'), 'error');
    expect(error).to.have.property('code', 'ECONNREFUSED');
    client.write(REQUEST);
    await eventually(() => expect(received.match(/done/g)).to.have.length(2));
    expect(closed).to.equal(false);
    client.end();
    await eventually(() => expect(closed).to.equal(true));
  });

  it('a socket counts the bytes that the system has taken', async () => {
    const size = 64 * 1024 * 1024;
    let socket: Socket | undefined;
    await serve((req, res) => {
      socket = req.socket;
      res.end(Buffer.alloc(size));
    }, REQUEST);
    client.pause();
    await eventually(() => expect(bytesTaken(socket as Socket)).to.be.within(1, size - 1));
    const before = bytesTaken(socket as Socket);
    client.resume();
    await eventually(() => expect(bytesTaken(socket as Socket)).to.be.above(size));
    expect(before).to.be.below(size);
  });

  it('a response keeps its headers until they are released, and the stream goes on', async () => {
    const held: { values?: WeakRef<object>; response?: ServerResponse } = {};
    await serve((_, res) => {
      const values = ['first', 'second'];
      held.values = new WeakRef(values);
      res.setHeader('X-Values', values);
      res.writeHead(200);
      res.write('one ');
      held.response = res;
    }, REQUEST);
    await eventually(() => expect(received).to.match(/X-Values: first\r\nX-Values: second[\s\S]*one /));
    // Not the values themselves, which a failed expectation would keep.
    const isKept = () => {
      collectGarbage();
      return held.values?.deref() !== undefined;
    };
    expect(isKept()).to.equal(true);
    releaseHeaders(held.response as ServerResponse);
    await eventually(() => expect(isKept()).to.equal(false));
    held.response?.write('two');
    await eventually(() => expect(received).to.match(/two/));
    expect(held.response?.headersSent).to.equal(true);
  });

  it('Koa releases a context at `end`, and the stream goes on', async () => {
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
    const koa = app.callback();
    await serve((req: IncomingMessage, res) => void koa(req, res), REQUEST);
    await eventually(() => expect(received).to.match(/first /));
    await eventually(() => {
      collectGarbage();
      expect(context?.deref()).to.equal(undefined);
    });
    write('second');
    await eventually(() => expect(received).to.match(/second/));
  });
});
