import { styleText } from 'node:util';
import { issueToken } from '../../domain/members/index.js';
import type { Config } from '../../domain/platform/settings/config.js';
import { sampleMember } from '../sample-data/add-sample-data.js';

/** The URL at which a browser or curl on this machine reaches a port. */
export function baseUrl(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${port}`;
}

/**
 * The text printed when everything is ready: addresses, and calls to try. If the service signs its own
 * tokens, creates a missing development key, before several processes need it.
 *
 * @param ready a line above the calls
 * @param hint the last line
 */
export async function welcome(
  config: Config,
  { httpPort, gatewayPort }: { httpPort: number; gatewayPort: number },
  ready: string,
  hint: string,
): Promise<string> {
  const http = baseUrl(config.HOST, httpPort);
  const row = (name: string, value: string) =>
    `  ${styleText('bold', name.padEnd(24))}${styleText('cyan', value)}`;
  const canSign = !config.JWT_PUBLIC_KEY && !config.JWKS_URL;
  const token = canSign ? await issueToken(config, { ...sampleMember(), ttl: '12h' }) : undefined;
  // Like the demo page, the sample member needs both.
  const hasDemo = config.DEMO && token !== undefined;
  const lines = [
    '',
    row('REST and event streams', http),
    row('Sockets', baseUrl(config.HOST, gatewayPort)),
    row('API documents', `${http}/docs`),
    ...(hasDemo ? [row('Demo page', `${http}/demo`)] : []),
    '',
    `  ${ready}`,
    `    curl -s '${http}/community/list/recent?size=3'`,
    hasDemo
      ? `    curl -s ${http}/chatroom -H 'Authorization: ${token}'`
      : `    curl -s '${http}/adopt/render'`,
    '',
    `  ${hint}`,
  ];
  return `${lines.join('\n')}\n\n`;
}
