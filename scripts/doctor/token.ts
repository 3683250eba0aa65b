import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../domain/kernel/clock.js';
import type { AppError } from '../../domain/kernel/errors.js';
import { issueToken, loadTokenVerifier } from '../../domain/members/index.js';
import { createLogger } from '../../domain/platform/observe/logger.js';
import type { Config } from '../../domain/platform/settings/config.js';
import { type Check, Fault, ok, Skipped, shared, type Verdict } from './check.js';
import { below, messageOf, request } from './request.js';

/** The member as whom the service is called; their first call creates them. */
const MEMBER = { email: 'doctor@example.org', nickname: 'doctor', ttl: '60s' };

const signsElsewhere = ({ JWT_PUBLIC_KEY, JWKS_URL }: Config) => Boolean(JWT_PUBLIC_KEY || JWKS_URL);

/** @throws Fault naming the host and path of JWKS_URL, which may have a password */
async function checkKeySet(url: string): Promise<Verdict> {
  const address = new URL(url);
  const { host, pathname } = address;
  const remedy = 'check JWKS_URL and the network';
  const { status, body } = await request(address).catch(({ message }) => {
    throw new Fault(`the key set: ${message}`, remedy);
  });
  if (status !== 200) throw new Fault(`the key set of ${host}${pathname} answers ${status}`, remedy);
  let keys: unknown;
  try {
    ({ keys } = JSON.parse(body));
  } catch {
    throw new Fault(`${host}${pathname} answers no JSON`, remedy);
  }
  if (!Array.isArray(keys) || keys.length === 0)
    throw new Fault(`${host}${pathname} answers no key set, or an empty one`, remedy);
  return ok(`the key set of ${host} has ${keys.length} key${keys.length === 1 ? '' : 's'}`);
}

async function checkKey(config: Config): Promise<Verdict> {
  if (config.JWKS_URL) return checkKeySet(config.JWKS_URL);
  requireKey(config);
  try {
    await loadTokenVerifier(config, systemClock, createLogger('silent', 'doctor'));
  } catch (error) {
    throw new Fault((error as Error).message, 'a public key in PEM: RSA with 2,048 bits, P-256 or Ed25519');
  }
  if (config.JWT_PUBLIC_KEY) return ok('the public key is usable');
  return ok(config.JWT_SECRET ? 'JWT_SECRET is set' : 'the development key under DATA_DIR');
}

/** Reading the development key would create it. */
function requireKey(config: Config): void {
  if (signsElsewhere(config) || config.JWT_SECRET || existsSync(join(config.DATA_DIR, 'jwt-secret'))) return;
  throw new Skipped(`no development key in ${config.DATA_DIR} yet: the first start creates it`);
}

/** The given token, or one signed by the configured secret. @throws Skipped if neither is there */
async function tokenFor(config: Config, given: string | undefined): Promise<string> {
  if (given) return given;
  if (signsElsewhere(config)) throw new Skipped('tokens are signed elsewhere: give one with --token');
  requireKey(config);
  return issueToken(config, MEMBER);
}

/** @throws Fault if this configuration refuses the token, with its reason */
async function verifyHere(config: Config, token: string): Promise<void> {
  const verify = await loadTokenVerifier(config, systemClock, createLogger('silent', 'doctor'));
  try {
    await verify(token);
  } catch (error) {
    const { code, errors } = error as AppError;
    throw new Fault(
      `this configuration refuses the token: ${[code, ...errors].join(': ')}`,
      'JWT_SECRET, JWT_PUBLIC_KEY or JWKS_URL, JWT_ISSUER and JWT_AUDIENCE must fit the issuer',
    );
  }
}

/** Calls a read as a member. @returns the token, which the service accepts */
async function callAs(token: string, base: string): Promise<string> {
  const { status, body } = await request(below(base, '/notification/all'), {
    headers: { Authorization: token },
  });
  if (status === 200) return token;
  if (status === 401)
    throw new Fault(
      `${new URL(base).host} refuses a token that this configuration accepts: ${messageOf(body)}`,
      'all processes need the same key as here: restart them after a change',
    );
  throw new Fault(
    `GET /notification/all answers ${status}: ${messageOf(body)}`,
    'its log; docs/operations.md',
  );
}

/** The key, and a token's way to the service and back. `accepted` is a token that the service accepts. */
export function inspectToken(
  config: () => Config,
  given: string | undefined,
  httpBase: () => Promise<string>,
) {
  const accepted = shared('no token is accepted', async () => {
    const token = await tokenFor(config(), given);
    await verifyHere(config(), token);
    return callAs(token, await httpBase());
  });
  const checks: Check[] = [
    { name: 'key', run: () => checkKey(config()) },
    {
      name: 'token',
      async run() {
        await accepted.read();
        return ok('the service accepts a token, and answers an authenticated read');
      },
    },
  ];
  return { checks, accepted: accepted.given };
}
