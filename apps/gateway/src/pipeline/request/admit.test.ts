import { afterEach, describe, expect, test } from 'bun:test';
import { Held, Room } from '@llm0/core/async/room';
import { encodeCachedAnswer } from '@llm0/core/cache/cached-answer';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { hashSecret } from '@llm0/core/keys/api-key';
import { compileBudgets } from '@llm0/core/limits/compile-budgets';
import { encodeErrorDetails } from '../../dialects/encode-error-details';
import {
  admit,
  CHEAP_MODEL,
  chatRequest,
  MODEL,
  NO_LIMITS,
  openPipeline,
  type Pipeline,
  SECRET,
} from '../open-pipeline.fixture';
import type { AdmitInput } from './admit';
import { AdmissionDenied } from './denials';
import { planRequest } from './plan-request';

let pipeline: Pipeline;
afterEach(() => pipeline.close());

async function open(options: Parameters<typeof openPipeline>[0] = {}): Promise<void> {
  pipeline = await openPipeline(options);
}

function inputOf(given: { requestId?: string; customerId?: string; text?: string; model?: string } = {}): AdmitInput {
  return {
    ctx: {
      requestId: given.requestId ?? Bun.randomUUIDv7(),
      startMs: performance.now(),
      customerId: given.customerId,
      controls: { cache: 'normal', dropParams: false },
      held: new Held(new Room()),
    },
    principal: { ...structuredClone(pipeline.world.stored), keyHash: hashSecret(SECRET) },
    dialect: 'openai-chat',
    request: chatRequest(given.text, given.model === undefined ? {} : { model: given.model }),
  };
}

const denialOf = async (input: AdmitInput): Promise<AdmissionDenied> => {
  const error = await admit(pipeline.services, input).catch((thrown: unknown) => thrown);
  if (error instanceof AdmissionDenied) return error;
  throw new Error('it was not denied');
};

const heldNanoUsd = async () => (await pipeline.hotStore.counters())[0]?.heldNanoUsd ?? 0;

describe('a decision', () => {
  test('sets the hold of the plan, and says which model was asked for', async () => {
    await open();
    const input = inputOf();
    const admission = await admit(pipeline.services, input);
    expect(admission.decision.type).toBe('admitted');
    expect([admission.requestedModel, admission.downgraded, admission.stored]).toEqual([MODEL, false, undefined]);
    expect(admission.plan.admit.holdNanoUsd).toBeGreaterThan(0);
    expect(await heldNanoUsd()).toBe(admission.plan.admit.holdNanoUsd);
  });

  test('against charges nothing anywhere', async () => {
    await open({ project: { monthlyCapNanoUsd: 1 }, key: { rateLimitPerMinute: 5 } });
    const error = await denialOf(inputOf());
    expect([error.kind, error.retryAfterMs]).toEqual(['spend_cap_exceeded', undefined]);
    expect(error.state.rate?.remaining).toBe(5);
    expect([await heldNanoUsd(), await pipeline.hotStore.openHolds()]).toEqual([0, 0]);
  });

  test('by the rate says how long to wait', async () => {
    await open({ key: { rateLimitPerMinute: 1, rateLimitBurst: 1 } });
    await admit(pipeline.services, inputOf());
    const error = await denialOf(inputOf({ text: 'another' }));
    expect([error.kind, error.param]).toEqual(['rate_limit_exceeded', 'key']);
    expect(error.retryAfterMs).toBeGreaterThan(50_000);
    expect(await pipeline.hotStore.openHolds()).toBe(1);
  });

  test('tells the clock of the store', async () => {
    await open();
    const admission = await admit(pipeline.services, inputOf());
    expect(Math.abs(pipeline.services.storeClock.nowMs() - admission.decision.nowMs)).toBeLessThan(1000);
  });
});

const NOT_ALLOWED = { kind: 'model_not_allowed' };

describe('a key that changed under us', () => {
  test('is loaded again, once, and its new limits hold at once', async () => {
    await open();
    const input = inputOf();
    pipeline.world.stored = {
      project: { ...pipeline.world.stored.project, version: 2, monthlyCapNanoUsd: 1 },
      key: { ...pipeline.world.stored.key, version: 2 },
    };
    await pipeline.hotStore.setVersions('project', 2, [{ keyId: 'key', version: 2 }]);
    expect((await denialOf(input)).kind).toBe('spend_cap_exceeded');
    expect(pipeline.world.lookUps).toBe(1);
  });

  test('or that the store does not know yet is loaded once, and known from then on', async () => {
    await open({ isNewToStore: true });
    expect((await admit(pipeline.services, inputOf())).decision.type).toBe('admitted');
    expect((await admit(pipeline.services, inputOf({ text: 'more' }))).decision.type).toBe('admitted');
    expect(pipeline.world.lookUps).toBe(1);
  });

  test('and was revoked is refused', async () => {
    await open();
    const input = inputOf();
    pipeline.world.stored = {
      ...pipeline.world.stored,
      key: { ...pipeline.world.stored.key, version: 2, isActive: false },
    };
    await pipeline.hotStore.setVersions('project', null, [{ keyId: 'key', version: 2 }]);
    await expect(admit(pipeline.services, input)).rejects.toMatchObject({ kind: 'invalid_api_key' });
    expect(await pipeline.hotStore.openHolds()).toBe(0);
  });

  test('and allows now what it did not: what is refused by it looks at the store, and loads it once', async () => {
    await open({ key: { allowedModels: ['another'] } });
    const input = inputOf();
    for (let i = 0; i < 3; i++) await expect(admit(pipeline.services, input)).rejects.toMatchObject(NOT_ALLOWED);
    expect(pipeline.world.lookUps).toBe(0);
    pipeline.world.stored = {
      ...pipeline.world.stored,
      key: { ...pipeline.world.stored.key, version: 2, allowedModels: null },
    };
    await pipeline.hotStore.setVersions('project', null, [{ keyId: 'key', version: 2 }]);
    expect((await admit(pipeline.services, input)).decision.type).toBe('admitted');
    expect(pipeline.world.lookUps).toBe(1);
  });

  test('stays refused where the store has lost its versions, and is loaded once for all refusals', async () => {
    await open({ key: { allowedModels: ['another'] }, isNewToStore: true });
    const input = inputOf();
    for (let i = 0; i < 3; i++) await expect(admit(pipeline.services, input)).rejects.toMatchObject(NOT_ALLOWED);
    expect(pipeline.world.lookUps).toBe(1);
  });

  test('again and again is given up, and nothing is held', async () => {
    await open();
    await pipeline.hotStore.setVersions('project', 9, []);
    await expect(admit(pipeline.services, inputOf())).rejects.toMatchObject({ kind: 'overloaded', retryAfterMs: 1000 });
    expect([pipeline.world.lookUps, await pipeline.hotStore.openHolds()]).toEqual([6, 0]);
  });
});

test.each([
  [
    { project: { dailyBudgetNanoUsd: 0 } },
    'spend_cap_exceeded',
    /^The daily budget of this project doesn't cover .* 00:00 UTC/,
  ],
  [{ key: { weeklyBudgetNanoUsd: 0 } }, 'key_budget_exceeded', /^The weekly budget of this API key .* Monday/],
  [{}, 'label_budget_exceeded', /^The monthly budget of the label feature=search .* \$0\.00 of \$0\.000001 is spent/],
] as const)(
  'a request beyond the budgets of %j is told which one, and what is spent',
  async (options, kind, message) => {
    await open(options);
    const label = { label: 'feature', value: 'search', dailyNanoUsd: null, weeklyNanoUsd: null, monthlyNanoUsd: 1000 };
    const input = inputOf();
    const budgets = compileBudgets({ ...pipeline.world.stored, labelBudgets: [label] });
    const ctx = { ...input.ctx, labels: { feature: 'search' } };
    const error = await denialOf({ ...input, ctx, principal: { ...input.principal, budgets } });
    expect([error.kind, error.retryAfterMs]).toEqual([kind, undefined]);
    expect(error.message).toMatch(message);
    expect(encodeErrorDetails(error)).toMatchObject({
      spent_usd: 0,
      budget_usd: kind === 'label_budget_exceeded' ? 1e-6 : 0,
    });
    expect(await pipeline.hotStore.openHolds()).toBe(0);
  },
);

test('a refusal by a cap tells what is spent and what open requests reserve', async () => {
  await open({ project: { monthlyCapNanoUsd: 20_000_000 } });
  let error: Awaited<ReturnType<typeof denialOf>> | undefined;
  for (let n = 0; n < 1000 && error === undefined; n++) {
    error = await admit(pipeline.services, inputOf()).then(
      () => undefined,
      (cause) => cause,
    );
  }
  expect(error?.kind).toBe('spend_cap_exceeded');
  expect(error?.message).toMatch(/\$0\.00 of \$0\.02 is spent, and open requests reserve \$0\.0/);
  const details = encodeErrorDetails(error as NonNullable<typeof error>);
  expect(details).toMatchObject({ spent_usd: 0, budget_usd: 0.02 });
  expect(Number(details.reserved_usd)).toBeGreaterThan(0.01);
});

describe('a customer beyond its limit', () => {
  const limits = { ...NO_LIMITS, dailySpendNanoUsd: 0, onLimit: 'downgrade' as const, downgradeModel: CHEAP_MODEL };

  test('gets the cheaper model, which is known to the next request beforehand', async () => {
    await open();
    await pipeline.hotStore.setCustomerLimits('project', 'c', limits);
    const first = await admit(pipeline.services, inputOf({ customerId: 'c' }));
    expect([first.downgraded, first.requestedModel, first.plan.request.model]).toEqual([true, MODEL, CHEAP_MODEL]);
    expect(first.plan.route.targets[0].model).toBe(CHEAP_MODEL);
    expect(pipeline.services.downgradeModels.get('project', 'c')).toBe(CHEAP_MODEL);
    const second = await admit(pipeline.services, inputOf({ customerId: 'c', text: 'more' }));
    expect(second.downgraded).toBe(true);
  });

  test('a missing downgrade model is refused with the reason', async () => {
    await open();
    await pipeline.hotStore.setCustomerLimits('project', 'c', { ...limits, downgradeModel: 'unheard-of' });
    await expect(admit(pipeline.services, inputOf({ customerId: 'c' }))).rejects.toMatchObject({
      kind: 'model_not_found',
    });
    expect(await pipeline.hotStore.openHolds()).toBe(0);
  });

  test('is refused where no other model is named', async () => {
    await open();
    await pipeline.hotStore.setCustomerLimits('project', 'c', { ...limits, onLimit: 'block', downgradeModel: null });
    const error = await denialOf(inputOf({ customerId: 'c' }));
    expect([error.kind, error.param, error.state.customer?.dailyLimitNanoUsd]).toEqual([
      'customer_spend_limit',
      'customer',
      0,
    ]);
  });
});

describe('an answer in the cache', () => {
  const write = (input: AdmitInput, value: string) => {
    const key = planRequest(pipeline.services, input).cacheKey ?? '';
    pipeline.hotStore.cacheWrite('project', { key, value, ttlMs: 60_000, provider: 'openai', model: MODEL });
  };

  test('comes with the decision, and holds nothing', async () => {
    await open();
    const response = { choices: [{ index: 0, text: 'two', finishReason: 'stop' as const }] };
    const stored = { v: 1, provider: 'openai', model: MODEL, response, usage: ZERO_USAGE, costNanoUsd: 7 } as const;
    const input = inputOf();
    write(input, encodeCachedAnswer(stored));
    const admission = await admit(pipeline.services, input);
    expect([admission.decision.type, admission.stored]).toEqual(['cached', stored]);
    expect(await pipeline.hotStore.openHolds()).toBe(0);
  });

  test('of another version is ignored, and the request is admitted', async () => {
    await open();
    const input = inputOf();
    write(input, '{"v":2}');
    const admission = await admit(pipeline.services, input);
    expect([admission.decision.type, admission.stored]).toEqual(['admitted', undefined]);
    expect(await pipeline.hotStore.openHolds()).toBe(1);
  });
});

describe('a store that cannot decide', () => {
  const away = new GatewayError('store_unavailable', 'away');
  const take = (error: Error) => {
    pipeline.hotStore.admit = () => Promise.reject(error);
  };

  test('refuses closed projects, and strict ones however open', async () => {
    await open();
    take(away);
    await expect(admit(pipeline.services, inputOf())).rejects.toBe(away);
    await pipeline.close();
    await open({ project: { onStoreFailure: 'open', strictCaps: true } });
    take(away);
    await expect(admit(pipeline.services, inputOf())).rejects.toBe(away);
  });

  test('lets open ones pass, without a cache', async () => {
    await open({ project: { onStoreFailure: 'open' } });
    take(away);
    const { decision, plan } = await admit(pipeline.services, inputOf());
    expect([decision.type, plan.cacheKey, plan.admit.cacheKey]).toEqual(['unchecked', undefined, undefined]);
  });

  test('is no excuse for anything else that goes wrong', async () => {
    await open({ project: { onStoreFailure: 'open' } });
    const bug = new TypeError('bug');
    take(bug);
    await expect(admit(pipeline.services, inputOf())).rejects.toBe(bug);
  });
});
