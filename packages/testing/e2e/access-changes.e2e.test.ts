import { describe, expect, test } from 'bun:test';
import { createTestKey } from '../stores/start-gateway';
import { type Case, type Key, MODEL, NO_GREETING, openReplicas, TEST_MS, testChanges } from './access-changes.fixture';
import { ask, logRow, postChat, STORE_KINDS, settledLedger } from './environment';

const UNPRICED = 'openai/never-priced';

const project = (body: object) => (key: Key) => ({
  method: 'PATCH' as const,
  path: `/projects/${key.projectId}`,
  body,
});
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
    setUp: (_key, upstreamUrl) => ({
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
    setUp: (_key, upstreamUrl) => ({
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

describe.each(STORE_KINDS)('changes apply from the next request in every process, %s stores', (kind) => {
  const opened = openReplicas(kind);
  testChanges(opened, CASES);

  test(
    'rows come and the books are even although background workers are off everywhere',
    async () => {
      const { apiKey } = await createTestKey(opened.world.gateway);
      const answer = await postChat(opened.world.gateway, apiKey, ask('one more'));
      await answer.text();
      expect(await logRow(opened.world.gateway, answer.headers.get('x-request-id') ?? '')).toMatchObject({
        status: 'success',
      });
      expect(await settledLedger(opened.world.gateway)).toMatchObject({ ok: true, queue_depth: 0, open_holds: 0 });
    },
    TEST_MS,
  );
});
