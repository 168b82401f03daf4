import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createKeySecret } from '@llm0/core/keys/api-key';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { Validator } from '@seriousme/openapi-schema-validator';
import { type AdminUnderTest, openAdmin } from '../admin.fixture';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const nobody = crypto.randomUUID();

describe.each(ON_ONE_DATABASE)('admin API on $name', (kind) => {
  let admin: AdminUnderTest;
  beforeAll(async () => {
    admin = await openAdmin(kind);
  }, 60_000);
  afterAll(() => admin.close());

  const createToken = async (body: object) => (await admin.call('POST', '/tokens', { body })).body;

  test('without a token: 401, the envelope, how to sign in', async () => {
    const answer = await admin.call('GET', '/projects', { token: null });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(answer.headers.get('x-request-id')).toMatch(UUID);
    expect(answer.body).toEqual({
      error: { message: expect.any(String), type: 'authentication_error', code: 'missing_api_key', param: null },
    });
  });

  test('an API key, a wrong token and another scheme get 401', async () => {
    for (const token of [createKeySecret().secret, 'wrong', `llm0_admin_${'0'.repeat(48)}`]) {
      const answer = await admin.call('GET', '/projects', { token, address: 'a' });
      expect([answer.status, answer.body.error.code]).toEqual([401, 'invalid_api_key']);
    }
    const basic = await admin.call('GET', '/projects', { token: null, headers: { authorization: 'Basic YTpi' } });
    expect(basic.status).toBe(401);
  });

  test('the eleventh wrong token at once is 429, whatever comes after; other addresses are not touched', async () => {
    const wrong = () => admin.call('GET', '/projects', { token: 'wrong', address: '198.51.100.7' });
    for (let attempt = 0; attempt < 10; attempt++) expect((await wrong()).status).toBe(401);
    admin.advanceClock(2_000);
    for (const refused of [await wrong(), await admin.call('GET', '/projects', { address: '198.51.100.7' })]) {
      expect(refused.status).toBe(429);
      expect(refused.headers.get('retry-after')).toBe('4');
      expect(refused.body.error).toMatchObject({ code: 'rate_limit_exceeded', param: 'client', retry_after: 4 });
    }
    expect((await admin.call('GET', '/projects', { token: 'wrong', address: '198.51.100.8' })).status).toBe(401);
    admin.advanceClock(4_000);
    expect((await admin.call('GET', '/projects', { address: '198.51.100.7' })).status).toBe(200);
  });

  test("a trusted proxy's address counts, and no client can forge one", async () => {
    const from = (forwarded: string) =>
      admin.call('GET', '/projects', { token: 'wrong', headers: { 'x-forwarded-for': forwarded } });
    for (let n = 0; n < 10; n++) expect((await from(`10.9.9.${n}, 198.51.100.50`)).status).toBe(401);
    expect((await from('10.9.9.99, 198.51.100.50')).status).toBe(429);
    expect((await from('198.51.100.50, 198.51.100.51')).status).toBe(401);
  });

  test('only the exact sign-in path is open', async () => {
    const paths = [
      ...[
        '/v1/projects/v1/session',
        '/v1/chains/x%2Fv1%2Fsession',
        '/v1/session/',
        '/v1//session',
        '/v1/session/v1/session',
      ],
      ...[
        '/v1/Session',
        '/V1/session',
        '//v1/session',
        '/v1/sessions',
        '/v1/x/../session/x',
        '/v1/session%2F',
        '/v1/session;x',
      ],
    ];
    for (const path of paths) {
      for (const method of ['POST', 'DELETE', 'GET']) {
        const answer = await admin.request(path, { method, body: method === 'POST' ? '{"token":"x"}' : undefined });
        expect([path, method, [401, 404].includes(answer.status)]).toEqual([path, method, true]);
        expect(answer.headers.get('set-cookie')).toBeNull();
      }
    }
    const { token } = await createToken({ name: 'may look', role: 'viewer' });
    expect((await admin.call('DELETE', '/chains/x%2Fv1%2Fsession', { token })).status).toBe(403);
    expect((await admin.call('DELETE', '/projects/v1/session', { token })).status).toBe(404);
  });

  test.each([
    ['logs', 'bodies'],
    ['tool-calls', 'bodies'],
    ['batches', 'files/error'],
  ])('bodies of %s are for admins, and for viewers whose token says so', async (log, bodies) => {
    const path = `/${log}/${crypto.randomUUID()}/${bodies}`;
    const codeOf = async (settings: object) => {
      const made = await createToken({ name: 'reader', ...settings });
      const answer = await admin.call('GET', path, { token: made.token });
      return [made.can_read_bodies, answer.status];
    };
    // There are none of this request: 404 is who may look.
    expect(await codeOf({ role: 'admin' })).toEqual([true, 404]);
    expect(await codeOf({ role: 'viewer' })).toEqual([false, 403]);
    expect(await codeOf({ role: 'viewer', can_read_bodies: true })).toEqual([true, 404]);
    expect(await codeOf({ role: 'admin', can_read_bodies: false })).toEqual([false, 403]);
    const { token } = await createToken({ name: 'reader', role: 'viewer' });
    expect((await admin.call('GET', '/session', { token })).body).toMatchObject({ can_read_bodies: false });
  });

  test('a viewer may only read', async () => {
    const { token } = await createToken({ name: 'auditor', role: 'viewer' });
    expect((await admin.call('GET', '/projects', { token })).status).toBe(200);
    for (const [method, path] of [
      ['POST', '/projects'],
      ['PATCH', `/projects/${nobody}`],
      ['PUT', '/models?provider=a&model=b'],
      ['DELETE', `/projects/${nobody}`],
      ['POST', '/tokens'],
      ['PATCH', `/tokens/${nobody}`],
      ['POST', `/projects/${nobody}/keys/${nobody}/chat/completions`],
    ] as const) {
      const answer = await admin.call(method, path, { token, body: method === 'DELETE' ? undefined : { name: 'x' } });
      expect([answer.status, answer.body.error.code]).toEqual([403, 'permission_denied']);
    }
  });

  test('a named token opens until it is revoked or expires; its secret is never shown again', async () => {
    const created = await createToken({ name: 'deploy' });
    expect(created).toMatchObject({ name: 'deploy', role: 'admin', expires_at: null });
    expect(created.token).toStartWith(created.prefix);
    expect((await admin.call('POST', '/projects', { token: created.token, body: { name: 'by token' } })).status).toBe(
      201,
    );
    await createToken({ name: 'idle' });
    const listed = await admin.call('GET', '/tokens?limit=1000');
    const useOf = (name: string) =>
      listed.body.data.find((token: { name: string }) => token.name === name).last_used_at;
    expect([useOf('deploy'), useOf('idle')]).toEqual([expect.any(String), null]);
    expect(listed.text).not.toContain(created.token);
    expect(listed.body.data.map((token: { id: string }) => token.id)).toContain(created.id);
    const audit = await admin.call('GET', `/audit?actor=deploy&resource=project&limit=1`);
    expect(audit.body.data[0]).toMatchObject({ actor: 'deploy', action: 'create', after: { name: 'by token' } });
    expect((await admin.call('DELETE', `/tokens/${created.id}`)).status).toBe(204);
    expect((await admin.call('GET', '/projects', { token: created.token })).status).toBe(401);
    expect((await admin.call('DELETE', `/tokens/${created.id}`)).status).toBe(404);
    const old = await createToken({ name: 'old', expires_at: '2020-01-01T00:00:00Z' });
    expect((await admin.call('GET', '/projects', { token: old.token })).status).toBe(401);
  });

  test('unknown paths are 404, wrong methods 405 with what is allowed; both only for those who may enter', async () => {
    const missing = await admin.call('GET', '/nothing');
    expect([missing.status, missing.body.error.code]).toEqual([404, 'not_found']);
    const wrong = await admin.call('PUT', '/projects', { body: {} });
    expect([wrong.status, wrong.body.error.code]).toEqual([405, 'method_not_allowed']);
    expect(wrong.headers.get('allow')).toBe('POST, GET');
    expect((await admin.call('GET', '/nothing', { token: null })).status).toBe(401);
    expect((await admin.call('PUT', '/projects', { token: null, body: {} })).status).toBe(401);
  });

  test('bodies that are not JSON, too deep or too large are refused', async () => {
    const post = (rawBody: string) => admin.call('POST', '/projects', { rawBody });
    expect((await post('{"name":')).body.error.code).toBe('invalid_json');
    expect((await post('[1]')).body.error.code).toBe('invalid_request');
    expect((await post('"text"')).body.error.code).toBe('invalid_request');
    expect((await post('')).body.error).toMatchObject({ code: 'invalid_request', param: 'name' });
    const deep = await post('['.repeat(100_000) + ']'.repeat(100_000));
    expect(deep.status).toBe(400);
    const large = await post(`{"name":"${'x'.repeat(1024 * 1024)}"}`);
    expect([large.status, large.body.error.code]).toEqual([413, 'request_too_large']);
  });

  test('every answer has its own request id', async () => {
    const ids = new Set<string>();
    for (const path of ['/projects', '/nothing', '/projects/x', '/openapi.json']) {
      const requestId = (await admin.call('GET', path)).headers.get('x-request-id') ?? '';
      expect(requestId).toMatch(UUID);
      ids.add(requestId);
    }
    expect(ids.size).toBe(4);
  });

  test('Postgres gone: 503, not 500, and only for what needs it', async () => {
    const lost = await openAdmin(kind);
    const failing = async () => {
      throw Object.assign(new Error('Failed query'), {
        cause: Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
      });
    };
    Object.assign(lost.services.db, { transaction: failing });
    const answer = await lost.call('POST', '/projects', { body: { name: 'x' } });
    expect([answer.status, answer.body.error.code]).toEqual([503, 'store_unavailable']);
    expect(answer.headers.get('retry-after')).toBe('1');
    Reflect.deleteProperty(lost.services.db, 'transaction');
    await lost.close();
  });

  test.each([
    ['GET', '/reconcile', 'counters'],
    ['GET', '/cache/stats', 'cacheStats'],
    ['POST', '/cache/purge', 'cachePurge'],
  ] as const)('the hot store gone: %s %s is 503, not 500', async (method, path, call) => {
    const { hotStore } = admin.services;
    Object.assign(hotStore, {
      [call]: async () => {
        throw new Error('Connection is closed.');
      },
    });
    const body = method === 'POST' ? { model: 'x' } : undefined;
    const answer = await admin.call(method, path, { body });
    Reflect.deleteProperty(hotStore, call);
    expect([answer.status, answer.body.error.code]).toEqual([503, 'store_unavailable']);
    expect((await admin.call(method, path, { body })).status).toBeLessThan(300);
  });

  test('the OpenAPI document is valid and names every route', async () => {
    const response = await admin.request('/v1/openapi.json');
    expect(response.status).toBe(200);
    const document = await response.json();
    const result = await new Validator().validate(structuredClone(document));
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
    expect(document.openapi).toBe('3.1.0');
    expect(document.info.version).toBe('9.9.9');
    expect(withoutNull(document)).toEqual([
      // The one of a raised run, and those whose absence is shown as null.
      ...['budget_usd', 'command', 'email', 'model', 'organization_id', 'team_id', 'url'],
    ]);
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods as object).map((method) => `${method} ${path}`),
    );
    expect(operations.sort()).toEqual([
      'delete /alerts/{id}',
      'delete /aliases/{id}',
      'delete /annotations/{id}',
      'delete /applies/{id}',
      'delete /backends/{id}',
      'delete /chains/{name}',
      'delete /identity-providers/{id}',
      'delete /label-budgets/{id}',
      'delete /mcp/servers/{id}',
      'delete /mcp/servers/{id}/grants/{grant_id}',
      'delete /models',
      'delete /organizations/{id}',
      'delete /projects/{id}',
      'delete /projects/{id}/customers/{customer_id}/limits',
      'delete /projects/{id}/keys/{key_id}',
      'delete /providers/{name}',
      'delete /providers/{name}/keys/{key_id}',
      'delete /session',
      'delete /teams/{id}',
      'delete /teams/{id}/members/{user_id}',
      'delete /tokens/{id}',
      'delete /users/{id}',
      'delete /users/{id}/sessions',
      'delete /views/{id}',
      'get /alert-preview',
      'get /alerts',
      'get /alerts/{id}',
      'get /alerts/{id}/firings',
      'get /aliases',
      'get /aliases/{id}',
      'get /annotations',
      'get /audit',
      'get /backends',
      'get /backends/{id}',
      'get /batches',
      'get /batches/{id}',
      'get /batches/{id}/files/{file}',
      'get /budgets',
      'get /cache/near-misses',
      'get /cache/stats',
      'get /chains',
      'get /chains/{name}',
      'get /customers',
      'get /failovers',
      'get /finance/closings',
      'get /finance/focus.csv',
      'get /finance/labels',
      'get /finance/statement',
      'get /finance/statement.csv',
      'get /identity-providers',
      'get /identity-providers/{id}',
      'get /key-names',
      'get /keys',
      'get /label-budgets',
      'get /label-budgets/{id}',
      'get /live',
      'get /log-database',
      'get /logs',
      'get /logs/histogram',
      'get /logs/suggestions',
      'get /logs/{request_id}',
      'get /logs/{request_id}/bodies',
      'get /managed-resources',
      'get /mcp/servers',
      'get /mcp/servers/{id}',
      'get /mcp/servers/{id}/grants',
      'get /mcp/servers/{id}/tools',
      'get /me',
      'get /me/keys',
      'get /models',
      'get /models/unpriced',
      'get /models/{provider}/{model}',
      'get /organizations',
      'get /organizations/{id}',
      'get /projects',
      'get /projects/{id}',
      'get /projects/{id}/customers/{customer_id}/limits',
      'get /projects/{id}/guardrails',
      'get /projects/{id}/guardrails/versions',
      'get /projects/{id}/keys',
      'get /projects/{id}/keys/{key_id}',
      'get /projects/{id}/keys/{key_id}/models',
      'get /providers',
      'get /providers/{name}',
      'get /providers/{name}/keys',
      'get /providers/{name}/keys/{key_id}',
      'get /reconcile',
      'get /runs',
      'get /runs/{id}',
      'get /session',
      'get /stats/cache',
      'get /stats/differences',
      'get /stats/errors',
      'get /stats/failovers',
      'get /stats/flows',
      'get /stats/guardrails',
      'get /stats/health',
      'get /stats/histogram',
      'get /stats/latency',
      'get /stats/overview',
      'get /stats/prompt-cache',
      'get /stats/speeds',
      'get /stats/spend',
      'get /stats/spend-table',
      'get /stats/tools',
      'get /status',
      'get /system',
      'get /system-logs',
      'get /teams',
      'get /teams/{id}',
      'get /teams/{id}/members',
      'get /teams/{id}/shares',
      'get /timeline',
      'get /tokens',
      'get /tokens/{id}',
      'get /tool-calls',
      'get /tool-calls/{id}',
      'get /tool-calls/{id}/bodies',
      'get /users',
      'get /users/{id}',
      'get /views',
      'get /views/{id}',
      'patch /alerts/{id}',
      'patch /aliases/{id}',
      'patch /backends/{id}',
      'patch /identity-providers/{id}',
      'patch /label-budgets/{id}',
      'patch /mcp/servers/{id}',
      'patch /models/{provider}/{model}',
      'patch /organizations/{id}',
      'patch /projects/{id}',
      'patch /projects/{id}/keys/{key_id}',
      'patch /providers/{name}',
      'patch /providers/{name}/keys/{key_id}',
      'patch /teams/{id}',
      'patch /tokens/{id}',
      'patch /users/{id}',
      'patch /views/{id}',
      'post /alerts',
      'post /alerts/{id}/test',
      'post /aliases',
      'post /annotations',
      'post /applies',
      'post /backends',
      'post /backends/{id}/test',
      'post /batches/{id}/cancel',
      'post /cache/purge',
      'post /cache/reject',
      'post /demo-data',
      'post /finance/statement/close',
      'post /identity-providers',
      'post /label-budgets',
      'post /log-database/compare',
      'post /mcp/servers',
      'post /mcp/servers/check',
      'post /mcp/servers/{id}/consent',
      'post /mcp/servers/{id}/refresh',
      'post /mcp/servers/{id}/tools/{name}/approve',
      'post /mcp/servers/{id}/tools/{name}/decline',
      'post /models/import',
      'post /organizations',
      'post /projects',
      'post /projects/{id}/guardrails/replay',
      'post /projects/{id}/guardrails/rollback',
      'post /projects/{id}/guardrails/try',
      'post /projects/{id}/guardrails/webhook-secret',
      'post /projects/{id}/keys',
      'post /projects/{id}/keys/{key_id}/approve',
      'post /projects/{id}/keys/{key_id}/audio/speech',
      'post /projects/{id}/keys/{key_id}/chat/completions',
      'post /projects/{id}/keys/{key_id}/images/generations',
      'post /projects/{id}/keys/{key_id}/mcp',
      'post /projects/{id}/keys/{key_id}/refuse',
      'post /projects/{id}/keys/{key_id}/rotate',
      'post /providers',
      'post /providers/check',
      'post /providers/{name}/keys',
      'post /providers/{name}/test',
      'post /runs/{id}/raise',
      'post /runs/{id}/stop',
      'post /secrets/reencrypt',
      'post /session',
      'post /teams',
      'post /teams/{id}/members',
      'post /tokens',
      'post /users',
      'post /views',
      'put /applies/{id}',
      'put /chains/{name}',
      'put /models',
      'put /projects/{id}/customers/{customer_id}/limits',
      'put /projects/{id}/guardrails',
    ]);
  });

  test('the reference page loads nothing from elsewhere and runs only its own script', async () => {
    const response = await admin.request('/docs');
    const html = await response.text();
    expect(response.headers.get('content-type')).toStartWith('text/html');
    expect(html).not.toMatch(/https?:\/\/|src=|@import/);
    const policy = response.headers.get('content-security-policy') ?? '';
    const script = /<script>([\s\S]*)<\/script>/.exec(html)?.[1] ?? '';
    expect(policy).toContain(`script-src 'sha256-${Bun.CryptoHasher.hash('sha256', script, 'base64')}'`);
    expect(policy).toContain("default-src 'none'");
  });
});

// biome-ignore lint/suspicious/noExplicitAny: a document is read whatever it has
type Part = any;

/** Fields that an answer shows as null and the body of its request does not take as null. */
function withoutNull(document: Part): string[] {
  const resolve = (part: Part): Part =>
    part?.$ref === undefined
      ? part
      : resolve(
          part.$ref
            .split('/')
            .slice(1)
            .reduce((at: Part, name: string) => at[name], document),
        );
  const fieldsOf = (schema: Part): Record<string, Part> => {
    const { properties = {}, allOf = [] } = resolve(schema) ?? {};
    return Object.assign({}, properties, ...allOf.map(fieldsOf));
  };
  const takesNull = (part: Part): boolean => {
    const { type, anyOf = [], oneOf = [] } = resolve(part);
    return [type].flat().includes('null') || [...anyOf, ...oneOf].some(takesNull);
  };
  const schemaOf = (part: Part) => fieldsOf(part?.content?.['application/json']?.schema);
  const found = Object.values<Part>(document.paths).flatMap((methods) =>
    Object.values<Part>(methods).flatMap(({ requestBody, responses }) => {
      const shown = Object.assign({}, ...[200, 201].map((status) => schemaOf(responses[status])));
      const taken = schemaOf(requestBody);
      return Object.keys(taken).filter((name) => takesNull(shown[name] ?? {}) && !takesNull(taken[name]));
    }),
  );
  return [...new Set(found)].sort();
}
