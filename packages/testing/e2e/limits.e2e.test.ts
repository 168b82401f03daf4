import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import {
  allLogs,
  ask,
  logRow,
  postChat,
  STORE_KINDS,
  settledLedger,
  shareEnvironment,
  type TestEnvironment,
  waitUntil,
} from './environment';

const SETUP_MS = 60_000;
const DAY_SECONDS = 86_400;
/** gpt-4o-mini: $0.15 in, $0.60 out a million; holds about $0.0006 and bills $0.00075. */
const COST = 0.00075;
const question = (text: string, more: Record<string, unknown> = {}) =>
  ask(text, { max_tokens: 1000, x_fake: { usage: { prompt: 1000, completion: 1000 } }, ...more });

for (const kind of STORE_KINDS) {
  describe(`limits of customers and keys on ${kind} stores`, () => {
    let world: TestEnvironment;
    beforeAll(async () => {
      world = await shareEnvironment({ kind, allVendors: false });
    }, SETUP_MS);
    afterAll(() => world.close(), SETUP_MS);

    /** A key, a customer with limits, and how to ask in its name. */
    const newCustomer = async (limits: Record<string, unknown> | null, key: Record<string, unknown> = {}) => {
      const made = await createTestKey(world.gateway, { key });
      const customerId = `customer ${crypto.randomUUID()} ü`;
      const headers = { 'X-Customer-ID': encodeURIComponent(customerId) };
      const path = `/projects/${made.projectId}/customers/${encodeURIComponent(encodeURIComponent(customerId))}/limits`;
      const setLimits = (to: Record<string, unknown>) => callAdmin(world.gateway, path, { method: 'PUT', body: to });
      if (limits !== null) await setLimits(limits);
      const post = (body: unknown) => postChat(world.gateway, made.apiKey, body, { headers });
      return { ...made, customerId: encodeURIComponent(customerId), path, setLimits, post };
    };
    const queued = async () => {
      const page = await (await fetch(`${world.gateway.url}/metrics`)).text();
      return Number(/^llm0_requests_queued (\d+)$/m.exec(page)?.[1]);
    };
    const until = async (isSo: () => Promise<boolean>) => {
      const endMs = performance.now() + 20_000;
      while (!(await isSo())) {
        if (performance.now() > endMs) throw new Error(`not so within 20 s: ${isSo}`);
        await Bun.sleep(10);
      }
    };
    const expectServed = async (answer: Response) => {
      const text = await answer.text();
      expect([answer.status, answer.status === 200 ? '' : text]).toEqual([200, '']);
      return answer;
    };
    const expectRefused = async (answer: Response, status: number, error: Record<string, unknown>) => {
      expect(await answer.json()).toMatchObject({ error });
      expect(answer.status).toBe(status);
      return Number(answer.headers.get('retry-after'));
    };
    const secondsLeft = (seconds: number) => seconds - (Math.floor(Date.now() / 1000) % seconds);
    const monthSecondsLeft = () => {
      const now = new Date();
      return Math.ceil((Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1) - now.getTime()) / 1000);
    };
    const expectAbout = (actual: number, expected: number) =>
      expect(Math.abs(actual - expected)).toBeLessThanOrEqual(3);

    test.each([
      ['daily', { daily_spend_limit_usd: 0.0019 }],
      ['monthly', { monthly_spend_limit_usd: 0.0019 }],
    ])('a customer is told what is left of a %s limit, and from 80 % on that it is near', async (period, limits) => {
      const customer = await newCustomer(limits);
      const first = await expectServed(await customer.post(question('one')));
      expect(first.headers.get('x-warning')).toBeNull();
      const left = (answer: Response) => answer.headers.get('x-customer-remaining-usd');
      expect(left(first)).toBe(period === 'daily' ? '0.001900000' : null);
      // Half of it is spent by then: 39 %, and 79 % after one more.
      const second = await expectServed(await customer.post(question('two')));
      expect(second.headers.get('x-warning')).toBeNull();
      expect(left(second)).toBe(period === 'daily' ? '0.001150000' : null);
      await customer.setLimits({ [`${period}_spend_limit_usd`]: 0.0018, on_limit_behavior: 'block' });
      const cheap = { max_tokens: 10, x_fake: { usage: { prompt: 1, completion: 1 } } };
      const third = await expectServed(await customer.post(question('three', cheap)));
      expect(third.headers.get('x-warning')).toBe(`Customer approaching ${period} spend limit (83%)`);
      const repeated = await expectServed(await customer.post(question('three', cheap)));
      expect(repeated.headers.get('x-cache-hit')).toBe('exact');
      expect(repeated.headers.get('x-warning')).toBe(`Customer approaching ${period} spend limit (83%)`);
      if (period === 'daily') expect(left(third)).toBe('0.000300000');
    });

    test.each<[string, Record<string, unknown>, () => number]>([
      ['daily', { daily_spend_limit_usd: 0.001 }, () => secondsLeft(DAY_SECONDS)],
      ['monthly', { monthly_spend_limit_usd: 0.001 }, monthSecondsLeft],
    ])('%s spend, block: 429 until the period ends, hits are still served', async (_name, limits, untilEnd) => {
      const { post, projectId } = await newCustomer(limits);
      const first = await expectServed(await post(question('first')));
      expect(first.headers.get('x-customer-spend-today')).toBe('0.000000000');
      const daily = limits.daily_spend_limit_usd === undefined ? null : '0.001000000';
      expect(first.headers.get('x-customer-limit-daily')).toBe(daily);
      const refused = await post(question('second'));
      const wait = await expectRefused(refused, 429, { code: 'customer_spend_limit', param: 'customer' });
      expectAbout(wait, untilEnd());
      expect(refused.headers.get('x-customer-spend-today')).toBe(COST.toFixed(9));
      expect(refused.headers.get('x-customer-limit-daily')).toBe(daily);
      expect((await expectServed(await post(question('first')))).headers.get('x-cache-hit')).toBe('exact');
      await settledLedger(world.gateway);
      const rows = await allLogs(world.gateway, `project_id=${projectId}`);
      expect(rows.map((row) => row.status).sort()).toEqual(['cap_exceeded', 'success', 'success']);
    });

    test('warn: served as asked, with a warning, and counted', async () => {
      const { post } = await newCustomer({ daily_spend_limit_usd: 0.001, on_limit_behavior: 'warn' });
      expect((await expectServed(await post(question('one')))).headers.get('x-warning')).toBeNull();
      const second = await expectServed(await post(question('two', { stream: true })));
      expect(second.headers.get('x-warning')).toBe('customer_daily_spend');
      expect(second.headers.get('x-model')).toBe('gpt-4o-mini');
      const third = await expectServed(await post(question('three')));
      expect(third.headers.get('x-customer-spend-today')).toBe((2 * COST).toFixed(9));
    });

    test('downgrade: beyond the limit really another model answers, at its price', async () => {
      const { post } = await newCustomer({
        daily_spend_limit_usd: 0.02,
        on_limit_behavior: 'downgrade',
        downgrade_model: 'gpt-4o-mini',
      });
      const first = await expectServed(await post(question('one', { model: 'gpt-4o' })));
      expect([first.headers.get('x-model'), first.headers.get('x-downgraded-from')]).toEqual(['gpt-4o', null]);
      const second = await expectServed(await post(question('two', { model: 'gpt-4o' })));
      expect([second.headers.get('x-model'), second.headers.get('x-downgraded-from')]).toEqual([
        'gpt-4o-mini',
        'gpt-4o',
      ]);
      expect(second.headers.get('x-cost-usd')).toBe(COST.toFixed(9));
      expect(world.upstream.requests.at(-1)?.body.model).toBe('gpt-4o-mini');
      const row = await logRow(world.gateway, second.headers.get('x-request-id') ?? '');
      expect(row).toMatchObject({ model: 'gpt-4o-mini', requested_model: 'gpt-4o', cost_usd: COST });
    });

    test('a downgrade model the key may not call is refused', async () => {
      const { post } = await newCustomer(
        { daily_spend_limit_usd: 0, on_limit_behavior: 'downgrade', downgrade_model: 'gpt-4o-mini' },
        { allowed_models: ['gpt-4o'] },
      );
      await expectRefused(await post(question('x', { model: 'gpt-4o' })), 403, { code: 'model_not_allowed' });
    });

    test('one request alone may cost too much', async () => {
      const { post } = await newCustomer({ per_request_max_usd: 0.0007 });
      await expectRefused(await post(question('much', { max_tokens: 2000 })), 400, {
        code: 'request_over_limit',
        param: 'max_tokens',
      });
      await expectServed(await post(question('less')));
    });

    test.each<[string, Record<string, unknown>, () => number]>([
      ['minute', { requests_per_minute: 2 }, () => 30],
      ['hour', { requests_per_hour: 2 }, () => secondsLeft(3600)],
      ['day', { requests_per_day: 2 }, () => secondsLeft(DAY_SECONDS)],
    ])('requests per %s, hits included', async (_name, limits, untilNext) => {
      const { post } = await newCustomer(limits);
      await expectServed(await post(question('same')));
      await expectServed(await post(question('same')));
      const refused = await post(question('same'));
      const wait = await expectRefused(refused, 429, { code: 'rate_limit_exceeded', param: 'customer' });
      expectAbout(wait, untilNext());
    });

    test('requests per model and day', async () => {
      const { post } = await newCustomer({ model_limits: { 'gpt-4o-mini': { requests_per_day: 1 } } });
      await expectServed(await post(question('a')));
      const wait = await expectRefused(await post(question('b')), 429, {
        code: 'rate_limit_exceeded',
        param: 'customer',
      });
      expectAbout(wait, secondsLeft(DAY_SECONDS));
      await expectServed(await post(question('b', { model: 'gpt-4o' })));
    });

    test('limits hold from the next request on, and removing them too', async () => {
      const { post, setLimits, path } = await newCustomer(null);
      await expectServed(await post(question('a')));
      await setLimits({ daily_spend_limit_usd: 0.0001 });
      expect((await post(question('b'))).status).toBe(429);
      await callAdmin(world.gateway, path, { method: 'DELETE' });
      await expectServed(await post(question('b')));
    });

    test('spend is kept by customer and day', async () => {
      const { post, projectId, customerId } = await newCustomer(null);
      await expectServed(await post(question('a')));
      await expectServed(await post(question('a')));
      await expectServed(await post(question('b')));
      await settledLedger(world.gateway);
      const day = new Date().toISOString().slice(0, 10);
      const query = `from=${day}T00:00:00Z&to=${day}T23:59:59Z&interval=day&group_by=customer&project_id=${projectId}`;
      const { buckets } = await callAdmin<{ buckets: Record<string, unknown>[] }>(
        world.gateway,
        `/stats/spend?${query}`,
      );
      expect(buckets).toHaveLength(1);
      expect(buckets[0]).toMatchObject({ group: customerId, cost_usd: 2 * COST, requests: 3 });
    });

    test('a key’s tokens per minute: what one call really used counts', async () => {
      const { apiKey } = await createTestKey(world.gateway, {
        key: { tokens_per_minute: 2000 },
        project: { cache_enabled: false },
      });
      const post = (text: string, more = {}) => postChat(world.gateway, apiKey, question(text, more));
      await expectServed(await post('uses 2000'));
      const wait = await expectRefused(await post('next'), 429, { code: 'rate_limit_exceeded', param: 'tokens' });
      expect(wait).toBeGreaterThan(20);
      expect(wait).toBeLessThanOrEqual(61);
      await expectRefused(await post('too much', { max_tokens: 3000 }), 400, {
        code: 'request_over_limit',
        param: 'tokens',
      });
    });

    test('a key’s concurrency: one place is free as soon as one call ended', async () => {
      const { apiKey } = await createTestKey(world.gateway, {
        key: { max_concurrency: 2 },
        project: { cache_enabled: false },
      });
      const { control } = world.upstream;
      const before = control.counters.received;
      control.hold();
      const running = [1, 2].map((n) => postChat(world.gateway, apiKey, question(`running ${n}`)));
      await waitUntil(() => control.counters.received === before + 2);
      const refused = await postChat(world.gateway, apiKey, question('third'));
      const wait = await expectRefused(refused, 429, { code: 'rate_limit_exceeded', param: 'concurrency' });
      expect(wait).toBe(1);
      control.release();
      for (const answer of await Promise.all(running)) await expectServed(answer);
      await expectServed(await postChat(world.gateway, apiKey, question('third')));
    });

    test.each(['total', 'month'])('a key’s budget, %s: 402, and the project’s other keys go on', async (period) => {
      const { apiKey, projectId } = await createTestKey(world.gateway, {
        key: { budget_usd: 0.001, budget_period: period },
        project: { cache_enabled: false },
      });
      await expectServed(await postChat(world.gateway, apiKey, question('one')));
      await expectRefused(await postChat(world.gateway, apiKey, question('two')), 402, { code: 'key_budget_exceeded' });
      const { key } = await callAdmin<{ key: string }>(world.gateway, `/projects/${projectId}/keys`, {
        body: { name: 'b' },
      });
      await expectServed(await postChat(world.gateway, key, question('two')));
    });

    test('a project that waits: requests over a rate pass in order, and one too late is refused at once', async () => {
      const { apiKey, projectId } = await createTestKey(world.gateway, {
        key: { rate_limit_per_minute: 120, rate_limit_burst: 1 },
        project: { cache_enabled: false, queue_timeout_ms: 20_000 },
      });
      const texts = [1, 2, 3].map((n) => `in turn ${projectId} ${n}`);
      const answers: Response[] = [];
      for (const [index, text] of texts.entries()) {
        void postChat(world.gateway, apiKey, question(text)).then((answer) => answers.push(answer));
        // Its place is fixed once it is queued, or answered.
        await until(async () => answers.length + (await queued()) > index);
      }
      await waitUntil(() => answers.length === texts.length);
      for (const answer of answers) await expectServed(answer);
      expect(answers.some((answer) => Number(answer.headers.get('x-queued-ms')) > 0)).toBe(true);
      const asked = world.upstream.requests.map(({ body }) => JSON.stringify(body.messages));
      expect(asked.filter((one) => one.includes(projectId))).toEqual(
        texts.map((text) => expect.stringContaining(text) as unknown as string),
      );
      const slow = { rate_limit_per_minute: 1, rate_limit_burst: 1 };
      const late = await createTestKey(world.gateway, { key: slow, project: { queue_timeout_ms: 5000 } });
      await expectServed(await postChat(world.gateway, late.apiKey, question('now')));
      const refused = await postChat(world.gateway, late.apiKey, question('then'));
      const seconds = await expectRefused(refused, 429, { code: 'rate_limit_exceeded', param: 'key' });
      expect(seconds).toBeGreaterThan(30);
    });

    test('a project that waits: a place of a key goes to the next, and a caller who leaves frees its turn', async () => {
      const { control } = world.upstream;
      const { apiKey } = await createTestKey(world.gateway, {
        key: { max_concurrency: 1 },
        project: { cache_enabled: false, queue_timeout_ms: 30_000 },
      });
      control.hold();
      const running = postChat(world.gateway, apiKey, question('first'));
      await waitUntil(() => control.counters.waiting === 1);
      const caller = new AbortController();
      const left = postChat(world.gateway, apiKey, question('left'), { signal: caller.signal }).catch(() => 'left');
      await until(async () => (await queued()) === 1);
      const next = postChat(world.gateway, apiKey, question('next'));
      await until(async () => (await queued()) === 2);
      caller.abort();
      expect(await left).toBe('left');
      await until(async () => (await queued()) === 1);
      control.release();
      await expectServed(await running);
      await expectServed(await next);
      expect(await settledLedger(world.gateway)).toMatchObject({ ok: true, open_holds: 0 });
    });

    test('a key’s request bucket tells true remaining times', async () => {
      const { apiKey } = await createTestKey(world.gateway, {
        key: { rate_limit_per_minute: 60, rate_limit_burst: 2 },
      });
      const first = await expectServed(await postChat(world.gateway, apiKey, question('a')));
      expect(first.headers.get('x-ratelimit-limit')).toBe('60');
      expect(Number(first.headers.get('x-ratelimit-remaining'))).toBe(1);
      let refused = await postChat(world.gateway, apiKey, question('a'));
      while (refused.status === 200) refused = await postChat(world.gateway, apiKey, question('a'));
      const wait = await expectRefused(refused, 429, { code: 'rate_limit_exceeded', param: 'key' });
      expect(wait).toBe(1);
      await Bun.sleep(1000 * wait);
      await expectServed(await postChat(world.gateway, apiKey, question('a')));
    });
  });
}
