import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { hostGateway } from '../stores/host-gateway';
import { removeFolder, temporaryFolder } from '../stores/server-process';
import { callAdmin, createTestKey, type GatewayProcess } from '../stores/start-gateway';
import { ask, postChat, waitUntil } from './environment';

/** The vendors take the last access token that they gave for the identity token of now. */
const state = { identity: 'pod-1.jwt', valid: 'none', isRefusing: false, exchanges: 0, betas: new Set<string>() };
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
const choices = [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }];
const ANSWERS: Readonly<Record<string, object>> = {
  '/v1/chat/completions': { id: 'x', object: 'chat.completion', created: 1, model: 'gpt-4o-mini', choices, usage },
  '/v1/messages': {
    ...{ id: 'm', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', stop_reason: 'end_turn' },
    ...{ content: [{ type: 'text', text: 'hi' }], usage: { input_tokens: 1, output_tokens: 1 } },
  },
};
const vendor = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname.endsWith('/oauth/token')) {
      state.exchanges += 1;
      const body = (await request.json()) as Record<string, string>;
      const token = body.subject_token ?? body.assertion;
      if (state.isRefusing || token !== state.identity)
        return Response.json({ error: 'invalid_grant', error_description: `${token} is unknown` }, { status: 401 });
      if (body.assertion === undefined) state.valid = `sk-short-${state.exchanges}`;
      return Response.json({ access_token: body.assertion ? 'sk-ant-oat01-x' : state.valid, expires_in: 3600 });
    }
    const key = request.headers.get('authorization');
    state.betas.add(`${pathname} ${request.headers.get('x-api-key')} ${request.headers.get('anthropic-beta')}`);
    if (key !== `Bearer ${pathname === '/v1/messages' ? 'sk-ant-oat01-x' : state.valid}`)
      return Response.json({ error: { message: 'Incorrect API key', type: 'invalid_request_error' } }, { status: 401 });
    return Response.json(ANSWERS[pathname] ?? {});
  },
});

const folder = temporaryFolder('workload-identity');
const tokenFile = join(folder, 'token');
let gateway: GatewayProcess;
let apiKey: string;
let serial = 0;

beforeAll(async () => {
  await Bun.write(tokenFile, state.identity);
  const root = `http://127.0.0.1:${vendor.port}`;
  gateway = await hostGateway({
    env: {
      ...{ OPENAI_IDENTITY_PROVIDER_ID: 'idp', OPENAI_SERVICE_ACCOUNT_ID: 'svc', OPENAI_BASE_URL: `${root}/v1` },
      ...{ OPENAI_IDENTITY_TOKEN_FILE: tokenFile, OPENAI_TOKEN_URL: `${root}/oauth/token` },
      ...{ ANTHROPIC_FEDERATION_RULE_ID: 'fdrl', ANTHROPIC_ORGANIZATION_ID: 'org', ANTHROPIC_BASE_URL: root },
      ...{ ANTHROPIC_SERVICE_ACCOUNT_ID: 'svac', ANTHROPIC_IDENTITY_TOKEN_FILE: tokenFile, FAILOVER_MODE: 'off' },
    },
  });
  ({ apiKey } = await createTestKey(gateway));
}, 60_000);
afterAll(async () => {
  await gateway?.stop();
  await vendor.stop(true);
  removeFolder(folder);
});

const post = async (model: string) => {
  const response = await postChat(gateway, apiKey, ask(`question ${serial++}`, { model, max_tokens: 10 }));
  return { status: response.status, text: await response.text() };
};

test('vendors are called with access tokens for the identity of the pod, without a stored key', async () => {
  for (const model of ['openai/gpt-4o-mini', 'anthropic/claude-sonnet-4-5'])
    expect((await post(model)).status).toBe(200);
  expect([...state.betas]).toEqual(['/v1/chat/completions null null', '/v1/messages null oauth-2025-04-20']);
});

test('a revoked token and a replaced identity cost no request; a refused exchange is told without a token', async () => {
  state.identity = 'pod-2.jwt';
  await Bun.write(tokenFile, state.identity);
  state.valid = 'revoked';
  const before = state.exchanges;
  const answers = await Promise.all(Array.from({ length: 20 }, () => post('openai/gpt-4o-mini')));
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  // All wait for one exchange; a request that was refused with the newest token may ask once more.
  expect(state.exchanges - before).toBeLessThanOrEqual(2);
  state.isRefusing = true;
  state.valid = 'revoked again';
  const refused = await post('openai/gpt-4o-mini');
  expect(refused.status).toBe(502);
  await waitUntil(() => gateway.output().includes('OPENAI_IDENTITY_TOKEN_FILE'));
  const told = gateway.output();
  expect(told).toContain('Check OPENAI_IDENTITY_PROVIDER_ID, OPENAI_SERVICE_ACCOUNT_ID');
  expect(`${told} ${refused.text}`).not.toMatch(/pod-\d\.jwt|sk-short|sk-ant-oat/);
  const provider = await callAdmin<{ key_problem: string | null }>(gateway, '/providers/openai');
  expect(provider.key_problem).toContain('answered 401 to OPENAI_IDENTITY_TOKEN_FILE: invalid_grant');
  state.isRefusing = false;
  expect((await post('openai/gpt-4o-mini')).status).toBe(200);
  expect(await callAdmin<object>(gateway, '/providers/openai')).toMatchObject({ key_problem: null });
});
