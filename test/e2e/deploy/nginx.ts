import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { OutgoingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../../domain/platform/project-root.js';
import { endWithTests } from '../../support/child-process.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';

/** Debian keeps it where only root's PATH looks. */
const PATH = `${process.env.PATH}:/usr/sbin`;

/** Whether the tests of the configuration can run here. Where not, they are pending. */
export const hasNginx =
  spawnSync('nginx', ['-v'], { env: { PATH } }).status === 0 &&
  spawnSync('openssl', ['version']).status === 0;

export interface SecureReply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  /** Time, in ms, from the request to the first byte of the body. */
  firstByteMs: number;
}

export interface SecureCall {
  method?: string;
  headers?: OutgoingHttpHeaders;
  json?: unknown;
  /** Loopback address to call from: a client of its own. */
  from?: string;
  /** The answer counts as complete when its body fits, for one that never ends. */
  until?: RegExp;
}

/** nginx of the test's own, with the project's configuration, on loopback. */
export interface TlsProxy {
  base: string;
  plain: string;
  certificate: string;
  call(path: string, options?: SecureCall): Promise<SecureReply>;
  stop(): Promise<void>;
}

function makeCertificate(folder: string): { certificate: string; key: string } {
  const [certificate, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const files = ['-keyout', key, '-out', certificate];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...subject, ...files],
    {
      stdio: 'ignore',
    },
  );
  return { certificate, key };
}

/** The main file around the project's: nothing of it outside the folder. */
function mainFile(folder: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `  ${kind}_temp_path ${join(folder, kind)};`)
    .join('\n');
  return [
    'daemon off;',
    'worker_processes 1;',
    // Started by root, its worker would be somebody to whom the folder is closed.
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    `pid ${join(folder, 'nginx.pid')};`,
    `error_log ${join(folder, 'error.log')} warn;`,
    'events { worker_connections 512; }',
    'http {',
    temporary,
    '  access_log off;',
    '  default_type application/octet-stream;',
    `  include ${join(folder, 'site.conf')};`,
    '}',
  ].join('\n');
}

function callOver(base: string, ca: string, path: string, options: SecureCall): Promise<SecureReply> {
  const { method = 'GET', headers = {}, json, from, until } = options;
  const body = json === undefined ? undefined : JSON.stringify(json);
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request(
      base + path,
      {
        method,
        ca,
        agent: false,
        ...(from ? { localAddress: from } : {}),
        headers: { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
      },
      (answer) => {
        let text = '';
        let firstByteMs = 0;
        const done = () =>
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text, firstByteMs });
        answer.on('data', (chunk) => {
          firstByteMs ||= performance.now() - began;
          text += chunk;
          if (!until?.test(text)) return;
          done();
          answer.destroy();
        });
        answer.on('end', done);
        answer.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** @param http,gateway the upstreams' `server` lines */
export async function startProxy(http: string, gateway: string): Promise<TlsProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'adoption-nginx-'));
  const [port, plainPort] = [await freePort(), await freePort()];
  const { certificate, key } = makeCertificate(folder);
  const values: Record<string, string> = {
    SERVER_NAME: 'localhost',
    LISTEN: `127.0.0.1:${port}`,
    LISTEN_PLAIN: `127.0.0.1:${plainPort}`,
    CERTIFICATE: certificate,
    CERTIFICATE_KEY: key,
    HTTP_SERVERS: http,
    GATEWAY_SERVERS: gateway,
  };
  const template = readFileSync(join(projectRoot(), 'deploy', 'nginx.conf.template'), 'utf8');
  const site = template.replace(/^ *#.*$/gm, '').replace(/@([A-Z_]+)@/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`the template has an unknown placeholder: ${name}`);
    return value;
  });
  writeFileSync(join(folder, 'site.conf'), site);
  writeFileSync(join(folder, 'nginx.conf'), mainFile(folder));
  const args = ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')];
  execFileSync('nginx', [...args, '-t', '-q'], { env: { PATH }, stdio: ['ignore', 'inherit', 'inherit'] });
  const server = spawn('nginx', args, { env: { PATH }, stdio: 'inherit' });
  endWithTests(server);
  await eventually(async () => {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
    } finally {
      socket.destroy();
    }
  });
  const base = `https://localhost:${port}`;
  const ca = readFileSync(certificate, 'utf8');
  return {
    base,
    plain: `http://127.0.0.1:${plainPort}`,
    certificate: ca,
    call: (path, options = {}) => callOver(`https://127.0.0.1:${port}`, ca, path, options),
    async stop() {
      const exited = once(server, 'exit');
      server.kill('SIGTERM');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
