import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@llm0/testing/stores/server-process';
import { readConfig } from '../config/config';
import { createFetchSecret } from './fetch-secret';
import { parseReference } from './secret-reference';

const folder = temporaryFolder('federation');
const TOKEN_FILE = join(folder, 'token');
const exchanges: { readonly path: string; readonly beta: string | null; readonly body: Record<string, string> }[] = [];
let answer: (body: Record<string, string>) => Response;
const vendor = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: async (request) => {
    const body = (await request.json()) as Record<string, string>;
    exchanges.push({ path: new URL(request.url).pathname, beta: request.headers.get('anthropic-beta'), body });
    return answer(body);
  },
});
const ROOT = `http://127.0.0.1:${vendor.port}`;
const OPENAI = {
  OPENAI_IDENTITY_PROVIDER_ID: 'idp_1',
  OPENAI_SERVICE_ACCOUNT_ID: 'svc_1',
  OPENAI_IDENTITY_TOKEN_FILE: TOKEN_FILE,
  OPENAI_TOKEN_URL: `${ROOT}/oauth/token`,
};
const ANTHROPIC = {
  ANTHROPIC_FEDERATION_RULE_ID: 'fdrl_1',
  ANTHROPIC_ORGANIZATION_ID: 'org',
  ANTHROPIC_SERVICE_ACCOUNT_ID: 'svac_1',
  ANTHROPIC_IDENTITY_TOKEN_FILE: TOKEN_FILE,
  ANTHROPIC_BASE_URL: `${ROOT}/v1`,
};

beforeEach(async () => {
  exchanges.length = 0;
  answer = () => Response.json({ access_token: 'sk-short', expires_in: 600, token_type: 'Bearer' });
  await Bun.write(TOKEN_FILE, 'the.pod.jwt\n');
});
afterAll(async () => {
  vendor.stop(true);
  await rm(folder, { recursive: true });
});

function fetchIdentity(name: string, env: Record<string, string>) {
  const { federations } = readConfig(env).secrets;
  const reference = parseReference(`identity:${name}`);
  if (reference === undefined) throw new Error('no reference');
  return createFetchSecret({ env, federations, fetch })(reference, AbortSignal.timeout(5000));
}

describe('an access token for the identity of the pod', () => {
  test('by the exchange that each vendor documents, with the token of now', async () => {
    const { text, expiresAtMs = 0 } = await fetchIdentity('openai', OPENAI);
    expect(text).toBe('sk-short');
    expect(Math.abs(expiresAtMs - Date.now() - 600_000)).toBeLessThan(5000);
    await Bun.write(TOKEN_FILE, 'the.next.jwt');
    await fetchIdentity('anthropic', { ...ANTHROPIC, ANTHROPIC_WORKSPACE_ID: 'wrkspc_1' });
    expect(exchanges).toEqual([
      {
        ...{ path: '/oauth/token', beta: null },
        body: {
          grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
          subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
          subject_token: 'the.pod.jwt',
          identity_provider_id: 'idp_1',
          service_account_id: 'svc_1',
        },
      },
      {
        ...{ path: '/v1/oauth/token', beta: 'oauth-2025-04-20,oidc-federation-2026-04-01' },
        body: {
          grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
          assertion: 'the.next.jwt',
          federation_rule_id: 'fdrl_1',
          organization_id: 'org',
          service_account_id: 'svac_1',
          workspace_id: 'wrkspc_1',
        },
      },
    ]);
  });

  test.each<[string, (body: Record<string, string>) => Response, RegExp]>([
    [
      'a refusal that quotes the token',
      ({ subject_token: token }) =>
        Response.json({ error: 'invalid_grant', error_description: `no mapping for ${token}` }, { status: 401 }),
      /answered 401 to OPENAI_IDENTITY_TOKEN_FILE: invalid_grant: no mapping for \*\*\*\. Check OPENAI_IDENTITY_PROVIDER_ID/,
    ],
    [
      "an error of the vendor's API",
      () => Response.json({ error: { type: 'x', message: 'unknown service account' } }, { status: 400 }),
      /answered 400.*unknown service account/,
    ],
    ['no JSON', () => new Response('<html>', { status: 503 }), /answered 503.*no reason/],
    ['an answer without a token', () => Response.json({ token_type: 'Bearer' }), /gave no access token/],
    ['another place', () => Response.redirect(`${ROOT}/other`), /redirect/i],
  ])('%s: the message names the setting, and no token', async (_, refuse, problem) => {
    answer = refuse;
    const failure = String(await fetchIdentity('openai', OPENAI).catch((error: Error) => error.message));
    expect(failure).toMatch(problem);
    expect(failure).not.toContain('the.pod.jwt');
  });

  test('a missing file and an empty one are told by their setting', async () => {
    await Bun.write(TOKEN_FILE, ' \n');
    expect(fetchIdentity('openai', OPENAI)).rejects.toThrow(`OPENAI_IDENTITY_TOKEN_FILE=${TOKEN_FILE} is empty`);
    const nowhere = { ...OPENAI, OPENAI_IDENTITY_TOKEN_FILE: join(folder, 'nope') };
    expect(fetchIdentity('openai', nowhere)).rejects.toThrow('cannot be read: ENOENT');
    expect(fetchIdentity('anthropic', OPENAI)).rejects.toThrow('its settings are missing');
  });
});

describe('settings', () => {
  const keyOf = (env: Record<string, string>) => readConfig(env).providers.map(({ name, apiKey }) => [name, apiKey]);

  test('stand for a key; a key itself counts first', () => {
    expect(keyOf({ ...OPENAI, ...ANTHROPIC })).toEqual([
      ['openai', 'identity:openai'],
      ['anthropic', 'identity:anthropic'],
    ]);
    expect(keyOf({ ...OPENAI, OPENAI_API_KEY: 'sk-1' })).toEqual([['openai', 'sk-1']]);
  });

  test.each([
    [{ OPENAI_SERVICE_ACCOUNT_ID: '' }, 'OPENAI_SERVICE_ACCOUNT_ID='],
    [{ OPENAI_IDENTITY_TOKEN_FILE: '' }, 'OPENAI_IDENTITY_TOKEN_FILE='],
    [{ OPENAI_TOKEN_URL: 'http://login.example.com/token' }, 'needs https'],
  ])('%j stops the start', (env, problem) => {
    expect(() => readConfig({ ...OPENAI, ...env })).toThrow(problem);
  });

  test('without the first one, the others are told to have no effect', () => {
    expect(readConfig({ ANTHROPIC_SERVICE_ACCOUNT_ID: 'x' }).warnings).toEqual([
      'ANTHROPIC_SERVICE_ACCOUNT_ID has no effect without ANTHROPIC_FEDERATION_RULE_ID',
    ]);
  });
});
