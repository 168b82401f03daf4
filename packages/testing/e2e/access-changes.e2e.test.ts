import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hostGateway } from '../stores/host-gateway';
import { callAdmin, createTestKey, type GatewayProcess } from '../stores/start-gateway';
import {
  ask,
  logRow,
  postChat,
  STORE_KINDS,
  settledLedger,
  shareEnvironment,
  type TestEnvironment,
} from './environment';

const SETUP_MS = 60_000;
const TEST_MS = 30_000;
const MODEL = 'gpt-4o-mini';
const UNPRICED = 'openai/never-priced';
const CUSTOMER = 'ann';

interface Key {
  readonly projectId: string;
  readonly keyId: string;
  readonly apiKey: string;
}
interface Change {
  readonly method: 'PATCH' | 'PUT' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: object;
}

/** A change that takes something away, and the one that gives it back. */
interface Case {
  readonly name: string;
  readonly project?: Record<string, unknown>;
  readonly key?: Record<string, unknown>;
  /** Brings about what is taken away, where it is not there from the start; its `id` is `made`. */
  readonly setUp?: (key: Key) => Change;
  readonly tighten: (key: Key, made: string) => Change;
  readonly loosen: (key: Key, made: string) => Change;
  readonly model?: string;
  readonly more?: object;
  /** What the request is refused with, or what is in its answer's header instead. */
  readonly refusal: string;
}

const project = (body: object) => (key: Key) => ({
  method: 'PATCH' as const,
  path: `/projects/${key.projectId}`,
  body,
});
const ownKey = (body: object) => (key: Key) => ({
  method: 'PATCH' as const,
  path: `/projects/${key.projectId}/keys/${key.keyId}`,
  body,
});
const customer = (body: object) => (key: Key) => ({
  method: 'PUT' as const,
  path: `/projects/${key.projectId}/customers/${CUSTOMER}/limits`,
  body,
});
/** `Hi` is what every request says. */
const NO_GREETING = { name: 'no greetings', on: 'input', check: { type: 'words', words: ['hi'] }, action: 'block' };
const guardrails = (rules: readonly object[]) => (key: Key) => ({
  method: 'PUT' as const,
  path: `/projects/${key.projectId}/guardrails`,
  body: { mode: 'enforce', rules },
});
const priceOf = (model: string) => `/models?provider=openai&model=${model}`;
const picture = {
  messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] }],
};
const PRICE = { input_usd_per_million: 1, output_usd_per_million: 1 };
const HOUR_AGO = () => new Date(Date.now() - 3_600_000).toISOString();
const TOMORROW = () => new Date(Date.now() + 86_400_000).toISOString();

const CASES: readonly Case[] = [
  {
    name: 'project is_active',
    tighten: project({ is_active: false }),
    loosen: project({ is_active: true }),
    refusal: 'project_inactive',
  },
  {
    name: 'project monthly_cap_usd',
    tighten: project({ monthly_cap_usd: '0.000000001' }),
    loosen: project({ monthly_cap_usd: null }),
    refusal: 'spend_cap_exceeded',
  },
  {
    name: 'project daily_budget_usd',
    tighten: project({ daily_budget_usd: '0.000000001' }),
    loosen: project({ daily_budget_usd: null }),
    refusal: 'spend_cap_exceeded',
  },
  {
    name: 'project strict_caps',
    tighten: project({ strict_caps: true }),
    loosen: project({ strict_caps: false }),
    more: picture,
    refusal: 'request_over_limit',
  },
  {
    name: 'project unknown_model_policy',
    tighten: project({ unknown_model_policy: 'refuse' }),
    loosen: project({ unknown_model_policy: 'allow_unpriced' }),
    model: UNPRICED,
    refusal: 'model_not_priced',
  },
  {
    name: 'project default_output_tokens',
    project: { monthly_cap_usd: 5 },
    tighten: project({ default_output_tokens: 10_000_000 }),
    loosen: project({ default_output_tokens: 10 }),
    refusal: 'spend_cap_exceeded',
  },
  {
    name: 'project cache_enabled',
    project: { cache_enabled: true },
    tighten: project({ cache_enabled: false }),
    loosen: project({ cache_enabled: true }),
    refusal: 'x-cache-hit: miss',
  },
  {
    name: 'project guardrails',
    tighten: guardrails([NO_GREETING]),
    loosen: guardrails([]),
    refusal: 'guardrail_blocked',
  },
  {
    name: 'key guardrail_rules',
    tighten: ownKey({ guardrail_rules: [NO_GREETING] }),
    loosen: ownKey({ guardrail_rules: null }),
    refusal: 'guardrail_blocked',
  },
  {
    name: 'key is_active',
    tighten: ownKey({ is_active: false }),
    loosen: ownKey({ is_active: true }),
    refusal: 'invalid_api_key',
  },
  {
    name: 'key expires_at',
    tighten: ownKey({ expires_at: HOUR_AGO() }),
    loosen: ownKey({ expires_at: TOMORROW() }),
    refusal: 'key_expired',
  },
  {
    name: 'key allowed_models',
    tighten: ownKey({ allowed_models: ['gpt-4o'] }),
    loosen: ownKey({ allowed_models: ['gpt-4o', MODEL] }),
    refusal: 'model_not_allowed',
  },
  {
    name: 'key rate_limit_per_minute',
    tighten: ownKey({ rate_limit_per_minute: 1, rate_limit_burst: 1 }),
    loosen: ownKey({ rate_limit_per_minute: null }),
    refusal: 'rate_limit_exceeded',
  },
  {
    name: 'key tokens_per_minute',
    tighten: ownKey({ tokens_per_minute: 1 }),
    loosen: ownKey({ tokens_per_minute: null }),
    refusal: 'request_over_limit',
  },
  {
    name: 'key budget_usd',
    tighten: ownKey({ budget_usd: '0.000000001' }),
    loosen: ownKey({ budget_usd: null }),
    refusal: 'key_budget_exceeded',
  },
  {
    name: 'key weekly_budget_usd',
    tighten: ownKey({ weekly_budget_usd: '0.000000001' }),
    loosen: ownKey({ weekly_budget_usd: 1 }),
    refusal: 'key_budget_exceeded',
  },
  {
    name: 'key budget_period',
    key: { budget_usd: 1 },
    tighten: ownKey({ budget_usd: '0.000000001', budget_period: 'month' }),
    loosen: ownKey({ budget_usd: 1, budget_period: 'total' }),
    refusal: 'key_budget_exceeded',
  },
  {
    name: 'customer daily_spend_limit_usd',
    tighten: customer({ daily_spend_limit_usd: 0 }),
    loosen: customer({ daily_spend_limit_usd: 5 }),
    refusal: 'customer_spend_limit',
  },
  {
    name: 'customer per_request_max_usd',
    tighten: customer({ per_request_max_usd: '0.000000001' }),
    loosen: customer({}),
    refusal: 'request_over_limit',
  },
  {
    name: 'customer model_limits',
    tighten: customer({ model_limits: { [MODEL]: { requests_per_day: 1 } } }),
    loosen: customer({ model_limits: {} }),
    refusal: 'rate_limit_exceeded',
  },
  {
    name: 'alias',
    model: 'house-name',
    setUp: ({ projectId }) => ({
      method: 'POST',
      path: '/aliases',
      body: { alias: 'house-name', project_id: projectId, targets: [{ provider: 'openai', model: MODEL }] },
    }),
    tighten: (_key, made) => ({
      method: 'PATCH',
      path: `/aliases/${made}`,
      body: { targets: [{ provider: 'openai', model: 'gpt-4o' }] },
    }),
    loosen: (_key, made) => ({
      method: 'PATCH',
      path: `/aliases/${made}`,
      body: { targets: [{ provider: 'openai', model: MODEL }] },
    }),
    refusal: 'x-model: gpt-4o',
  },
  {
    name: 'alias that goes and comes',
    model: 'coming-name',
    setUp: () => ({
      method: 'POST',
      path: '/aliases',
      body: { alias: 'coming-name', targets: [{ provider: 'openai', model: MODEL }] },
    }),
    tighten: (_key, made) => ({ method: 'DELETE', path: `/aliases/${made}` }),
    loosen: () => ({
      method: 'POST',
      path: '/aliases',
      body: { alias: 'coming-name', targets: [{ provider: 'openai', model: MODEL }] },
    }),
    refusal: 'model_not_found',
  },
  {
    name: 'price',
    project: { unknown_model_policy: 'refuse' },
    model: 'openai/sometimes-priced',
    setUp: () => ({ method: 'PUT', path: priceOf('sometimes-priced'), body: PRICE }),
    tighten: () => ({ method: 'DELETE', path: priceOf('sometimes-priced') }),
    loosen: () => ({ method: 'PUT', path: priceOf('sometimes-priced'), body: PRICE }),
    refusal: 'model_not_priced',
  },
  {
    name: 'provider is_active',
    model: 'house/house-large',
    setUp: () => ({
      method: 'POST',
      path: '/providers',
      body: { name: 'house', base_url: upstreamUrl, key: 'sk-house', models: [{ model: 'house-large', ...PRICE }] },
    }),
    tighten: () => ({ method: 'PATCH', path: '/providers/house', body: { is_active: false } }),
    loosen: () => ({ method: 'PATCH', path: '/providers/house', body: { is_active: true } }),
    refusal: 'model_not_found',
  },
  {
    name: 'provider drain',
    model: 'drained/drained-large',
    setUp: () => ({
      method: 'POST',
      path: '/providers',
      body: { name: 'drained', base_url: upstreamUrl, key: 'sk-d', models: [{ model: 'drained-large', ...PRICE }] },
    }),
    tighten: () => ({ method: 'PATCH', path: '/providers/drained', body: { drain: true } }),
    loosen: () => ({ method: 'PATCH', path: '/providers/drained', body: { drain: false } }),
    refusal: 'upstream_unavailable',
  },
  {
    name: 'chain',
    model: 'dead-model',
    setUp: () => ({
      method: 'POST',
      path: '/providers',
      body: {
        name: 'dead',
        base_url: 'http://127.0.0.1:1',
        key: 'sk-dead',
        models: [{ model: 'dead-model', ...PRICE }],
      },
    }),
    tighten: () => ({
      method: 'PUT',
      path: '/chains/dead',
      body: { targets: [{ provider: 'dead', model: 'dead-model' }] },
    }),
    loosen: () => ({
      method: 'PUT',
      path: '/chains/dead',
      body: {
        targets: [
          { provider: 'dead', model: 'dead-model' },
          { provider: 'openai', model: MODEL },
        ],
      },
    }),
    refusal: 'upstream_',
  },
];
let upstreamUrl = '';

describe.each(STORE_KINDS)('changes apply from the next request in every process, %s stores', (kind) => {
  let world: TestEnvironment;
  const replicas: GatewayProcess[] = [];
  beforeAll(async () => {
    const env = {
      FAILOVER_MODE: 'cloud_only',
      // The log is no background job: the last test looks at it.
      DISABLE_BACKGROUND_WORKERS: 'true',
    };
    world = await shareEnvironment({ kind, allVendors: false, env });
    upstreamUrl = world.upstream.baseUrl;
    replicas.push(world.gateway);
    // Beside embedded stores there can be no other.
    if (kind === 'real') replicas.push(await hostGateway({ env: world.env }));
  }, SETUP_MS);
  afterAll(async () => {
    await replicas[1]?.kill();
    await world.close();
  }, SETUP_MS);

  const apply = async ({ method, path, body }: Change): Promise<string> =>
    (await callAdmin<{ id?: string } | undefined>(world.gateway, path, { method, body }))?.id ?? '';

  test.each(CASES.map((one) => [one.name, one] as const))(
    '%s',
    async (_name, one) => {
      const key = await createTestKey(world.gateway, {
        project: { cache_enabled: false, ...one.project },
        key: one.key,
      });
      let made = one.setUp === undefined ? '' : await apply(one.setUp(key));
      const isRefused = async (gateway: GatewayProcess): Promise<boolean> => {
        const body = ask('Hi', { model: one.model ?? MODEL, max_tokens: undefined, ...one.more });
        const answer = await postChat(gateway, key.apiKey, body, { headers: { 'x-customer-id': CUSTOMER } });
        const text = await answer.text();
        const [name, value] = one.refusal.split(': ');
        if (value !== undefined) return answer.headers.get(name ?? '') === value;
        if (answer.status === 200) return false;
        expect(text).toContain(`"code":"${one.refusal}`);
        return true;
      };
      // Each process has seen key, project and tables before anything changes.
      for (const gateway of [...replicas, ...replicas]) await isRefused(gateway);
      for (const gateway of replicas) {
        await apply(one.tighten(key, made));
        if (one.refusal === 'rate_limit_exceeded') await isRefused(gateway);
        expect([one.name, 'tighter', await isRefused(gateway)]).toEqual([one.name, 'tighter', true]);
        made = (await apply(one.loosen(key, made))) || made;
        expect([one.name, 'looser', await isRefused(gateway)]).toEqual([one.name, 'looser', false]);
      }
    },
    TEST_MS,
  );

  test(
    'a replaced secret works until its grace ends; another rotation ends it at once',
    async () => {
      const key = await createTestKey(world.gateway, { key: { rate_limit_per_minute: null } });
      const statusOf = async (gateway: GatewayProcess, secret: string): Promise<number> => {
        const answer = await postChat(gateway, secret, ask('Hi', { model: MODEL }));
        await answer.text();
        return answer.status;
      };
      const rotate = (grace_seconds: number) =>
        callAdmin<{ key: string; previous_secret_expires_at: string }>(
          world.gateway,
          `/projects/${key.projectId}/keys/${key.keyId}/rotate`,
          { body: { grace_seconds } },
        );
      for (const gateway of replicas) expect(await statusOf(gateway, key.apiKey)).toBe(200);
      const second = await rotate(3600);
      for (const gateway of replicas) {
        for (const secret of [key.apiKey, second.key]) expect(await statusOf(gateway, secret)).toBe(200);
      }
      const third = await rotate(1);
      const endMs = Date.parse(third.previous_secret_expires_at);
      for (const gateway of replicas) {
        expect(await statusOf(gateway, key.apiKey)).toBe(401);
        expect(await statusOf(gateway, second.key)).toBe(200);
      }
      for (const gateway of replicas) {
        while ((await statusOf(gateway, second.key)) === 200) {
          expect(Date.now()).toBeLessThan(endMs + 1000);
          await Bun.sleep(50);
        }
        expect(Date.now()).toBeGreaterThanOrEqual(endMs);
        expect(await statusOf(gateway, second.key)).toBe(401);
        expect(await statusOf(gateway, third.key)).toBe(200);
      }
    },
    TEST_MS,
  );

  test(
    'rows come and the books are even although background workers are off everywhere',
    async () => {
      const { apiKey } = await createTestKey(world.gateway);
      const answer = await postChat(world.gateway, apiKey, ask('one more'));
      await answer.text();
      expect(await logRow(world.gateway, answer.headers.get('x-request-id') ?? '')).toMatchObject({
        status: 'success',
      });
      expect(await settledLedger(world.gateway)).toMatchObject({ ok: true, queue_depth: 0, open_holds: 0 });
    },
    TEST_MS,
  );
});
