import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@llm0/testing/stores/server-process';
import { createFetchSecret, type FetchSecret } from './fetch-secret';
import type { VaultSettings } from './fetch-vault';
import { parseReference } from './secret-reference';
import { writeSecret } from './write-secret';

const folder = temporaryFolder('secrets');
/** Answers of the server that stands for all managers, by path. */
let answers: Record<string, (request: Request) => Response | Promise<Response>> = {};
let asked: string[] = [];
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: (request) => {
    const { pathname } = new URL(request.url);
    asked.push(pathname);
    return answers[pathname]?.(request) ?? Response.json({ errors: ['no handler'] }, { status: 404 });
  },
});
const ROOT = `http://127.0.0.1:${server.port}`;
const known = { ...process.env };

beforeEach(() => {
  answers = {};
  asked = [];
});
afterEach(() => {
  for (const name of Object.keys(process.env)) if (known[name] === undefined) delete process.env[name];
  Object.assign(process.env, known);
});
afterAll(async () => {
  server.stop(true);
  await rm(folder, { recursive: true });
});

const VAULT = { address: ROOT, authPath: 'kubernetes', identityFile: join(folder, 'identity') };
const read = async (text: string, vault: Partial<VaultSettings> = {}, env: Record<string, string> = {}) =>
  readWith(createFetchSecret({ env: { ...process.env, ...env }, vault: { ...VAULT, ...vault }, fetch }), text);
function readWith(fetchSecret: FetchSecret, text: string) {
  const reference = parseReference(text);
  if (reference === undefined) throw new Error(`${text} is no reference`);
  return fetchSecret(reference, AbortSignal.timeout(5000));
}

describe('Vault', () => {
  const versioned = (data: object) => Response.json({ data: { data, metadata: { version: 3 } } });

  test('versioned secrets by the path of its API, with the token of now', async () => {
    const tokenFile = join(folder, 'token');
    const tokens: (string | null)[] = [];
    answers['/v1/secret/data/my%20team/openai'] = (request) => {
      tokens.push(request.headers.get('x-vault-token'), request.headers.get('x-vault-namespace'));
      return versioned({ key: 'sk-1', other: 'x' });
    };
    for (const token of ['first', 'second']) {
      await Bun.write(tokenFile, `${token}\n`);
      const secret = await read('vault:secret/data/my team/openai#key', { tokenFile, namespace: 'ns' });
      expect(secret).toEqual({ text: 'sk-1', expiresAtMs: undefined });
    }
    expect(tokens).toEqual(['first', 'ns', 'second', 'ns']);
  });

  test('plain ones, and leases with their end', async () => {
    answers['/v1/kv/openai'] = () => Response.json({ data: { key: 'sk-2' } });
    expect((await read('vault:kv/openai', { token: 't' })).text).toBe('sk-2');
    answers['/v1/openai/creds/app'] = () => Response.json({ lease_id: 'l', lease_duration: 60, data: { key: 'sk-3' } });
    const { expiresAtMs = 0 } = await read('vault:openai/creds/app#key', { token: 't' });
    expect(Math.abs(expiresAtMs - Date.now() - 60_000)).toBeLessThan(5000);
  });

  test('by the identity of the pod: one login for many reads, and another one when its token is revoked', async () => {
    await Bun.write(VAULT.identityFile, 'the-pod');
    const logins: unknown[] = [];
    answers['/v1/auth/cluster-1/login'] = async (request) => {
      logins.push(await request.json());
      return Response.json({ auth: { client_token: `login-${logins.length}`, lease_duration: 3600 } });
    };
    let valid = 'login-1';
    answers['/v1/secret/data/x'] = (request) =>
      request.headers.get('x-vault-token') === valid
        ? versioned({ key: 'sk' })
        : Response.json({ errors: ['permission denied'] }, { status: 403 });
    const fetchSecret = createFetchSecret({
      ...{ env: {}, fetch, vault: { ...VAULT, role: 'gateway', authPath: 'cluster-1' } },
    });
    for (let i = 0; i < 3; i++) expect((await readWith(fetchSecret, 'vault:secret/data/x')).text).toBe('sk');
    valid = 'login-2';
    expect((await readWith(fetchSecret, 'vault:secret/data/x')).text).toBe('sk');
    expect(logins).toEqual(Array(2).fill({ role: 'gateway', jwt: 'the-pod' }));
  });

  test.each<[string, string, Response, RegExp]>([
    [
      'a refusal',
      'secret/data/x#key',
      Response.json({ errors: ['permission denied'] }, { status: 403 }),
      /403.*permission/,
    ],
    ['no such field', 'secret/data/x#nope', Response.json({ data: { key: 'sk' } }), /no text in a field "nope"/],
    [
      'a name from the prototype',
      'secret/data/x#toString',
      Response.json({ data: { a: 'sk', b: 'sk' } }),
      /no text in/,
    ],
    ['no field named', 'secret/data/x', Response.json({ data: { a: 'sk-1', b: 'sk-2' } }), /2 fields/],
    ['an empty field', 'secret/data/x#a', Response.json({ data: { a: ' ' } }), /empty/],
    ['no JSON', 'secret/data/x#a', new Response('<html>'), /no text/],
  ])('%s is told, without any secret', async (_, path, answer, problem) => {
    answers['/v1/secret/data/x'] = () => answer.clone();
    const failure = await read(`vault:${path}`, { token: 't0ken' }).catch((error: Error) => error.message);
    expect(String(failure)).toMatch(problem);
    expect(String(failure)).not.toMatch(/sk-|t0ken/);
  });

  test('without an address', async () => {
    const fetchSecret = createFetchSecret({ env: {}, vault: undefined, fetch });
    expect(readWith(fetchSecret, 'vault:x#y')).rejects.toThrow('VAULT_ADDR is not set');
  });
});

describe('files and variables', () => {
  test('a file is read again each time', async () => {
    const path = join(folder, 'key');
    for (const text of ['one', 'two']) {
      await Bun.write(path, `${text}\n`);
      expect((await read(`file:${path}`)).text).toBe(text);
    }
    expect(read(`file:${folder}/nope`)).rejects.toThrow('ENOENT');
  });

  test('a variable', async () => {
    expect((await read('env:A_KEY', {}, { A_KEY: 'sk' })).text).toBe('sk');
    expect(read('env:NO_KEY')).rejects.toThrow('NO_KEY is not set');
  });
});

describe('AWS', () => {
  const signIn = () =>
    Object.assign(process.env, {
      ...{ AWS_ACCESS_KEY_ID: 'AKIAX', AWS_SECRET_ACCESS_KEY: 'secret', AWS_REGION: 'eu-central-1' },
      AWS_ENDPOINT_URL_SECRETS_MANAGER: ROOT,
    });

  test('Secrets Manager, in the region of the ARN', async () => {
    signIn();
    let signature = '';
    answers['/'] = async (request) => {
      signature = request.headers.get('authorization') ?? '';
      const { SecretId } = (await request.json()) as { SecretId: string };
      return SecretId === 'arn:aws:secretsmanager:us-west-2:1:secret:llm-AbCdEf'
        ? Response.json({ SecretString: '{"openai":"sk-aws"}' })
        : Response.json({ __type: 'ResourceNotFoundException', message: `no ${SecretId}` }, { status: 400 });
    };
    expect((await read('aws-sm:arn:aws:secretsmanager:us-west-2:1:secret:llm-AbCdEf#openai')).text).toBe('sk-aws');
    expect(signature).toContain('/us-west-2/secretsmanager/');
    expect(read('aws-sm:other')).rejects.toThrow('no other');
  });

  test('the role of a pod, with the end of its credentials', async () => {
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) delete process.env[name];
    Object.assign(process.env, {
      ...{ AWS_CONTAINER_CREDENTIALS_FULL_URI: `${ROOT}/role`, AWS_CONTAINER_AUTHORIZATION_TOKEN: 'pod' },
      ...{ AWS_CONFIG_FILE: '/dev/null', AWS_SHARED_CREDENTIALS_FILE: '/dev/null' },
    });
    let serial = 0;
    answers['/role'] = () => {
      serial += 1;
      const Expiration = new Date(Date.now() + 3_600_000).toISOString();
      return Response.json({ AccessKeyId: `ASIA${serial}`, SecretAccessKey: 's', Token: 't', Expiration });
    };
    const first = await read('identity:aws');
    expect(first.text).toBe('ASIA1:s:t');
    expect(Math.abs((first.expiresAtMs ?? 0) - Date.now() - 3_600_000)).toBeLessThan(5000);
    expect((await read('identity:aws')).text).toBe('ASIA2:s:t');
  });

  test("a role by the pod's identity token, read anew for each exchange", async () => {
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) delete process.env[name];
    const tokenFile = join(folder, 'aws-token');
    Object.assign(process.env, {
      ...{ AWS_ROLE_ARN: 'arn:aws:iam::1:role/gateway', AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile },
      ...{ AWS_ENDPOINT_URL_STS: ROOT, AWS_REGION: 'eu-central-1', AWS_ENDPOINT_URL: ROOT },
      ...{ AWS_CONFIG_FILE: '/dev/null', AWS_SHARED_CREDENTIALS_FILE: '/dev/null' },
    });
    const tokens: (string | null)[] = [];
    answers['/'] = async (request) => {
      const asked = new URLSearchParams(await request.text());
      tokens.push(asked.get('WebIdentityToken'));
      const [id, end] = [`ASIAWEB${tokens.length}`, new Date(Date.now() + 3_600_000).toISOString()];
      return new Response(
        `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
          <AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>${id}</AccessKeyId><SecretAccessKey>s</SecretAccessKey>
          <SessionToken>t</SessionToken><Expiration>${end}</Expiration></Credentials>
          </AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
        { headers: { 'content-type': 'text/xml' } },
      );
    };
    for (const [n, token] of ['first.jwt', 'second.jwt'].entries()) {
      await Bun.write(tokenFile, token);
      expect((await read('identity:aws')).text).toBe(`ASIAWEB${n + 1}:s:t`);
    }
    expect(tokens).toEqual(['first.jwt', 'second.jwt']);
  });
});

test('Google Secret Manager, by the identity of the machine', async () => {
  Object.assign(process.env, {
    ...{ GCE_METADATA_HOST: `127.0.0.1:${server.port}`, METADATA_SERVER_DETECTION: 'assume-present' },
    ...{ CLOUDSDK_API_ENDPOINT_OVERRIDES_SECRETMANAGER: `${ROOT}/`, HOME: folder, GOOGLE_CLOUD_PROJECT: 'p' },
  });
  const flavoured = (body: object | string) =>
    new Response(typeof body === 'string' ? body : JSON.stringify(body), {
      headers: { 'metadata-flavor': 'Google', 'content-type': 'application/json' },
    });
  answers['/computeMetadata/v1/instance/service-accounts/default/token'] = () =>
    flavoured({ access_token: 'machine-token', expires_in: 3600, token_type: 'Bearer' });
  answers['/computeMetadata/v1/universe/universe-domain'] = () => flavoured('googleapis.com');
  const payload = (text: string) => Response.json({ payload: { data: Buffer.from(text).toString('base64') } });
  answers['/v1/projects/p/secrets/openai/versions/latest:access'] = (request) =>
    request.headers.get('authorization') === 'Bearer machine-token' ? payload('sk-google\n') : payload('wrong');
  answers['/v1/projects/p/secrets/openai/versions/3:access'] = () => payload('{"key":"sk-3"}');
  expect((await read('gcp-sm:projects/p/secrets/openai')).text).toBe('sk-google');
  expect((await read('gcp-sm:projects/p/secrets/openai/versions/3#key')).text).toBe('sk-3');
  expect(read('gcp-sm:openai')).rejects.toThrow('must be gcp-sm:projects/');
  const written: unknown[] = [];
  let isThere = false;
  const missing = () => Response.json({ error: { message: 'not found' } }, { status: 404 });
  answers['/v1/projects/p/secrets/new/versions/latest:access'] = missing;
  answers['/v1/projects/p/secrets'] = async (request) => {
    written.push([new URL(request.url).search, await request.json()]);
    isThere = true;
    return Response.json({});
  };
  answers['/v1/projects/p/secrets/new:addVersion'] = async (request) => {
    const { payload: added } = (await request.json()) as { payload: { data: string } };
    if (!isThere) return missing();
    written.push(Buffer.from(added.data, 'base64').toString());
    return Response.json({});
  };
  const reference = parseReference('gcp-sm:projects/p/secrets/new#shop');
  if (reference !== undefined) await writeSecret(reference, 'llm0_live_x', { env: { ...process.env }, fetch });
  expect(written).toEqual([['?secretId=new', { replication: { automatic: {} } }], '{"shop":"llm0_live_x"}']);
  const { text, expiresAtMs = 0 } = await read('identity:gcp');
  expect(text).toBe('machine-token');
  expect(expiresAtMs).toBeGreaterThan(Date.now() + 3_000_000);
});

test('Azure: the token of a managed identity', async () => {
  Object.assign(process.env, { IDENTITY_ENDPOINT: `${ROOT}/msi`, IDENTITY_HEADER: 'h', AZURE_CONFIG_DIR: folder });
  answers['/msi'] = (request) => {
    const { searchParams } = new URL(request.url);
    return Response.json({
      access_token: `token-of ${searchParams.get('resource')}`,
      expires_on: String(Math.round(Date.now() / 1000) + 3600),
      ...{ resource: 'r', token_type: 'Bearer' },
    });
  };
  const { text, expiresAtMs = 0 } = await read('identity:azure');
  expect(text).toBe('token-of https://cognitiveservices.azure.com');
  expect(expiresAtMs).toBeGreaterThan(Date.now() + 3_000_000);
});

describe('new keys', () => {
  const write = async (text: string) => {
    const reference = parseReference(text);
    if (reference === undefined) throw new Error(`${text} is no reference`);
    await writeSecret(reference, 'llm0_live_x', { env: { ...process.env }, vault: { ...VAULT, token: 't' }, fetch });
  };

  test.each([
    ['a new secret', undefined, 'CreateSecret', '{"shop":"llm0_live_x"}'],
    ['a field beside others', '{"a":"1"}', 'PutSecretValue', '{"a":"1","shop":"llm0_live_x"}'],
  ])('AWS: %s', async (_, present, action, expected) => {
    const keys = { AWS_ACCESS_KEY_ID: 'AKIAX', AWS_SECRET_ACCESS_KEY: 's', AWS_REGION: 'eu-central-1' };
    Object.assign(process.env, { ...keys, AWS_ENDPOINT_URL_SECRETS_MANAGER: ROOT });
    const written: unknown[] = [];
    answers['/'] = async (request) => {
      const target = request.headers.get('x-amz-target')?.split('.')[1];
      const body = (await request.json()) as { SecretString?: string };
      if (target !== 'GetSecretValue') written.push([target, body.SecretString]);
      else if (present === undefined)
        return Response.json({ __type: 'ResourceNotFoundException', message: 'none' }, { status: 400 });
      return Response.json({ SecretString: present });
    };
    await write('aws-sm:team#shop');
    expect(written).toEqual([[action, expected]]);
  });

  test('Vault without versions: the field beside others', async () => {
    const written: unknown[] = [];
    answers['/v1/kv/team'] = async (request) => {
      if (request.method === 'POST') written.push(await request.json());
      return Response.json({ data: { a: '1' } });
    };
    await write('vault:kv/team#shop');
    expect(written).toEqual([{ a: '1', shop: 'llm0_live_x' }]);
    expect(write('identity:aws')).rejects.toThrow('nothing can be written');
  });
});

test('an unknown identity', () => {
  expect(read('identity:oracle')).rejects.toThrow('identity:oracle is unknown');
});
