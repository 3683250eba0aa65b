import { once } from 'node:events';
import { createServer } from 'node:net';
import { basename } from 'node:path';
import { expect } from 'chai';
import { ConfigError, loadConfig } from '../../domain/platform/settings/config.js';
import { requirePorts } from '../../scripts/command/ports.js';

async function faultsOf(env: Record<string, string>): Promise<string[]> {
  try {
    await requirePorts(loadConfig(env, '/nonexistent'));
    return [];
  } catch (error) {
    expect(error).to.be.an.instanceOf(ConfigError);
    return (error as ConfigError).faults;
  }
}

describe('the check of the ports', () => {
  it('50: names a port that is taken, and the process that holds it', async () => {
    for (const address of ['127.0.0.1', '0.0.0.0']) {
      const server = createServer().listen(0, address);
      await once(server, 'listening');
      const { port } = server.address() as { port: number };
      const [line, ...others] = await faultsOf({ HTTP_PORT: '0', GATEWAY_PORT: String(port) });
      expect(line).to.include(`GATEWAY_PORT: 127.0.0.1:${port} is taken by process ${process.pid} (`);
      expect(line).to.include(basename(process.execPath));
      expect(others).to.deep.equal([]);
      server.close();
      await once(server, 'close');
      expect(await faultsOf({ HTTP_PORT: '0', GATEWAY_PORT: String(port) })).to.deep.equal([]);
    }
  });

  it('names an address that is not this machine’s, once', async () => {
    expect(await faultsOf({ HOST: '192.0.2.1' })).to.deep.equal([
      'HOST: 192.0.2.1 is not an address of this machine',
    ]);
  });
});
