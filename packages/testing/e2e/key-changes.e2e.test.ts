import { describe, expect, test } from 'bun:test';
import { callAdmin, createTestKey, type GatewayProcess } from '../stores/start-gateway';
import {
  type Case,
  CUSTOMER,
  type Key,
  MODEL,
  NO_GREETING,
  openReplicas,
  TEST_MS,
  testChanges,
} from './access-changes.fixture';
import { ask, postChat, STORE_KINDS } from './environment';

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
const HOUR_AGO = () => new Date(Date.now() - 3_600_000).toISOString();
const TOMORROW = () => new Date(Date.now() + 86_400_000).toISOString();

const CASES: readonly Case[] = [
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
];

describe.each(STORE_KINDS)(
  'changes of keys and customers apply from the next request in every process, %s stores',
  (kind) => {
    const opened = openReplicas(kind);
    testChanges(opened, CASES);

    test(
      'a replaced secret works until its grace ends; another rotation ends it at once',
      async () => {
        const key = await createTestKey(opened.world.gateway, { key: { rate_limit_per_minute: null } });
        const statusOf = async (gateway: GatewayProcess, secret: string): Promise<number> => {
          const answer = await postChat(gateway, secret, ask('Hi', { model: MODEL }));
          await answer.text();
          return answer.status;
        };
        const rotate = (grace_seconds: number) =>
          callAdmin<{ key: string; previous_secret_expires_at: string }>(
            opened.world.gateway,
            `/projects/${key.projectId}/keys/${key.keyId}/rotate`,
            { body: { grace_seconds } },
          );
        for (const gateway of opened.replicas) expect(await statusOf(gateway, key.apiKey)).toBe(200);
        const second = await rotate(3600);
        for (const gateway of opened.replicas) {
          for (const secret of [key.apiKey, second.key]) expect(await statusOf(gateway, secret)).toBe(200);
        }
        const third = await rotate(1);
        const endMs = Date.parse(third.previous_secret_expires_at);
        for (const gateway of opened.replicas) {
          expect(await statusOf(gateway, key.apiKey)).toBe(401);
          expect(await statusOf(gateway, second.key)).toBe(200);
        }
        for (const gateway of opened.replicas) {
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
  },
);
