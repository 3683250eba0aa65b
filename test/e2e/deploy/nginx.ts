import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { OutgoingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../../domain/platform/process/project-root.js';
import { freePort, isListening } from '../../../scripts/command/ports.js';
import { endWithTests } from '../../support/child-process.js';
import { eventually } from '../../support/eventually.js';

/** Debian installs nginx in a folder of root's PATH only. */
const PATH = `${process.env.PATH}:/usr/sbin`;

/** Whether the tests of the configuration can run on this machine; else they are pending. */
export const hasNginx =
  spawnSync('nginx', ['-v'], { env: { PATH } }).status === 0 &&
  spawnSync('openssl', ['version']).status === 0;

interface SecureReply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  /** From the request to the first byte of the body, ms. */
  firstByteMs: number;
}

interface SecureCall {
  method?: string;
  headers?: OutgoingHttpHeaders;
  json?: unknown;
  /** Loopback address to call from, for a separate client. */
  from?: string;
  /** The answer is complete once its body matches, for a stream. */
  until?: RegExp;
}

export type TlsProxy = Awaited<ReturnType<typeof startProxy>>;

function makeCertificate(folder: string): { certificate: string; key: string } {
  const [certificate, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const files = ['-keyout', key, '-out', certificate];
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1'];
  execFileSync('openssl', [...request, ...subject, ...files], { stdio: 'ignore' });
  return { certificate, key };
}

/** The main configuration file; everything in it stays in the folder. */
function mainFile(folder: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `  ${kind}_temp_path ${join(folder, kind)};`)
    .join('\n');
  return [
    'daemon off;',
    'worker_processes 1;',
    // Started by root, its worker would be another user, who may not read the folder.
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

/**
 * Starts nginx with the project's configuration, on loopback.
 * @param http,gateway the upstreams' `server` lines
 */
export async function startProxy(http: string, gateway: string) {
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
    if (!(await isListening('127.0.0.1', port))) throw new Error('nginx does not listen');
  });
  const base = `https://localhost:${port}`;
  const ca = readFileSync(certificate, 'utf8');
  return {
    base,
    plain: `http://127.0.0.1:${plainPort}`,
    certificate: ca,
    call: (path: string, options: SecureCall = {}) =>
      callOver(`https://127.0.0.1:${port}`, ca, path, options),
    async stop(): Promise<void> {
      const exited = once(server, 'exit');
      server.kill('SIGTERM');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
