import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { listPrices, putPrice } from '@llm0/drizzle/queries/routing/model-pricing';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, openAdmin } from '../admin.fixture';

describe.each(ON_ONE_DATABASE)('models on $name', (kind) => {
  let admin: AdminUnderTest;
  const provider = `vendor-${crypto.randomUUID().slice(0, 8)}`;
  beforeAll(async () => {
    admin = await openAdmin(kind);
  }, 60_000);
  afterAll(() => admin.close());

  const pathOf = (model: string) => `/models?provider=${provider}&model=${encodeURIComponent(model)}`;
  const put = (model: string, body: object) => admin.call('PUT', pathOf(model), { body });
  const storedPrices = async (model: string) =>
    (await listPrices(admin.database.db)).find((price) => price.provider === provider && price.model === model);

  test('prices in USD per million are whole pico-USD per token, and live at once', async () => {
    const reloads = admin.reloads();
    const answer = await put('exact', {
      input_usd_per_million: '2.5',
      output_usd_per_million: 10,
      cache_read_usd_per_million: 0.000001,
      reasoning_usd_per_million: 0.1,
      input_above_200k_usd_per_million: 5,
      context_window: 128_000,
      max_output_tokens: 16_384,
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      provider,
      model: 'exact',
      mode: 'chat',
      input_usd_per_million: '2.5',
      output_usd_per_million: '10',
      cache_read_usd_per_million: '0.000001',
      cache_write_usd_per_million: null,
      reasoning_usd_per_million: '0.1',
      input_above_200k_usd_per_million: '5',
      context_window: 128_000,
      max_output_tokens: 16_384,
      edited: true,
      source: 'operator',
    });
    expect((await storedPrices('exact'))?.prices).toEqual({
      input: 2_500_000,
      output: 10_000_000,
      cache_read: 1,
      reasoning: 100_000,
      input_above_200k: 5_000_000,
    });
    expect(admin.reloads()).toBe(reloads + 1);
    expect(admin.notified.at(-1)).toBe('tables');
  });

  test('PUT replaces all prices; what describes the model stays unless it is sent', async () => {
    await put('meta', {
      input_usd_per_million: 1,
      output_usd_per_million: 2,
      cache_read_usd_per_million: 3,
      context_window: 1000,
      capabilities: ['vision'],
      mode: 'responses',
    });
    const again = (await put('meta', { input_usd_per_million: 0, output_usd_per_million: 0 })).body;
    expect(again).toMatchObject({ input_usd_per_million: '0', cache_read_usd_per_million: null });
    expect(again).toMatchObject({ context_window: 1000, capabilities: ['vision'], mode: 'responses' });
    const cleared = await put('meta', { input_usd_per_million: 0, output_usd_per_million: 0, context_window: null });
    expect(cleared.body.context_window).toBeNull();
  });

  test('an embedding model needs no output price, another one does', async () => {
    expect((await put('embed', { input_usd_per_million: 0.02, mode: 'embedding' })).status).toBe(200);
    const answer = await put('chat', { input_usd_per_million: 0.02 });
    expect([answer.status, answer.body.error.param]).toEqual([400, 'output_usd_per_million']);
    expect(await storedPrices('chat')).toBeUndefined();
  });

  test('units have prices in USD, exact to the picodollar', async () => {
    const prices = {
      ...{ image_usd: 0.04, second_usd: 0.0001, minute_usd: '0.000666666667', page_usd: 1, search_usd: 0.002 },
      ...{ session_second_usd: 0.001, character_usd_per_million: 15, batch_discount: 0.5 },
      image_sizes: [{ quality: 'high', size: '1024x1536', image_usd: 0.25 }],
    };
    const answer = await put('units', { ...prices, mode: 'image' });
    expect(answer.status).toBe(200);
    expect((await storedPrices('units'))?.prices).toEqual({
      ...{ image: 4e10, second: 1e8, minute: 666_666_667, page: 1e12, search: 2e9, session_second: 1e9 },
      ...{ character: 15_000_000, batch_discount: 500_000, image_high_1024x1536: 25e10 },
    });
    const shown = {
      ...{ image_usd: '0.04', second_usd: '0.0001', minute_usd: '0.000666666667', page_usd: '1', search_usd: '0.002' },
      ...{ session_second_usd: '0.001', character_usd_per_million: '15', batch_discount: 0.5 },
      image_sizes: [{ quality: 'high', size: '1024x1536', image_usd: '0.25' }],
    };
    expect(answer.body).toMatchObject({ ...shown, mode: 'image', input_usd_per_million: null });
    const changed = await admin.call('PATCH', `/models/${provider}/units`, { body: { image_usd: null, page_usd: 2 } });
    const { image_usd: _gone, ...kept } = shown;
    expect(changed.body).toMatchObject({ ...kept, page_usd: '2' });
    expect(changed.body).not.toHaveProperty('image_usd');
  });

  test.each([
    ['rerank', { search_usd: 0.002 }],
    ['image', { image_usd: 0.04 }],
    ['image', { input_usd_per_million: 5, output_image_usd_per_million: 30 }],
    ['speech', { character_usd_per_million: 15 }],
    ['transcription', { minute_usd: 0.006 }],
    ['chat', { input_usd_per_million: 1, output_usd_per_million: 2, search_usd: 0.01 }],
  ])('a new model is for %s by its prices %j', async (mode, prices) => {
    expect((await put(`new-${JSON.stringify(prices)}`, prices)).body).toMatchObject({ mode });
  });

  test('a model of any kind has a price', async () => {
    const refused = await put('nothing', { mode: 'speech', batch_discount: 0.5 });
    expect([refused.status, refused.body.error.param]).toEqual([400, 'mode']);
    expect((await put('embed-free', { mode: 'embedding' })).body.error.param).toBe('input_usd_per_million');
  });

  test.each([
    ['image_usd', 1000],
    ['minute_usd', 0.0000000000001],
    ['batch_discount', 1.5],
    ['input_usd_per_million', 0.0000001],
    ['input_usd_per_million', -1],
    ['input_usd_per_million', 'cheap'],
    ['input_usd_per_million', null],
    ['output_usd_per_million', '1.0000005'],
    ['inptu_usd_per_million', 1],
    ['context_window', 0],
    ['mode', 'video'],
  ])('%s: %p is refused', async (field, value) => {
    const answer = await put('bad', { input_usd_per_million: 1, output_usd_per_million: 1, [field]: value });
    expect([answer.status, answer.body.error.param]).toEqual([400, field]);
  });

  test('provider and model are needed to change one', async () => {
    const body = { input_usd_per_million: 1, output_usd_per_million: 1 };
    expect((await admin.call('PUT', '/models?provider=x', { body })).body.error.param).toBe('model');
    expect((await admin.call('DELETE', '/models?model=x')).body.error.param).toBe('provider');
  });

  test('the list filters by provider, model and part of a name, and is walked by cursor', async () => {
    const names = ['walk/a', 'walk/b', 'walk/c', 'walk/d', 'walk/e'];
    for (const name of names) await put(name, { input_usd_per_million: 1, output_usd_per_million: 1 });
    const list = async (query: string) => (await admin.call('GET', `/models?provider=${provider}&${query}`)).body;
    expect((await list('model=walk/c')).data.map((model: { model: string }) => model.model)).toEqual(['walk/c']);
    const walked: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await list(`q=WALK&limit=2${cursor === null ? '' : `&cursor=${cursor}`}`);
      walked.push(...page.data.map((model: { model: string }) => model.model));
      cursor = page.next_cursor;
      // A model that goes between two pages leaves no gap behind.
      if (walked.length === 2) await admin.call('DELETE', pathOf('walk/b'));
    } while (cursor !== null);
    expect(walked).toEqual(names);
    expect((await list('model=nowhere')).data).toEqual([]);
    expect((await admin.call('GET', '/models?cursor=bm9uc2Vuc2U')).body.error.param).toBe('cursor');
  });

  test('the list has only the fields that are asked for', async () => {
    const put = '/models?provider=narrow&model=one';
    await admin.call('PUT', put, { body: { input_usd_per_million: 1, output_usd_per_million: 2 } });
    const asked = (fields: string) => admin.call('GET', `/models?provider=narrow&fields=${fields}`);
    expect((await asked('model,output_usd_per_million,nothing')).body.data).toEqual([
      { model: 'one', output_usd_per_million: '2' },
    ]);
    expect((await admin.call('GET', '/models?provider=narrow')).body.data[0]).toMatchObject({ provider: 'narrow' });
    const refused = await asked('model,');
    expect([refused.status, refused.body.error.param]).toEqual([400, 'fields']);
  });

  test('the list has only models that retire before a day', async () => {
    const price = { provider: 'ending', mode: 'chat', prices: { input: 1, output: 1 }, capabilities: [] };
    for (const [model, deprecationDate] of [['early', '2026-12-02'], ['that day', '2026-12-03'], ['never']] as const)
      await putPrice(admin.database.db, { ...price, model, deprecationDate });
    const asked = (day: string) => admin.call('GET', `/models?provider=ending&fields=model&retires_before=${day}`);
    expect((await asked('2026-12-03')).body.data).toEqual([{ model: 'early' }]);
    expect((await asked('soon')).body.error.param).toBe('retires_before');
  });

  test('an import says first what it would do, then sets all or none, with one entry in the audit', async () => {
    await put('import/same', { input_usd_per_million: 1, output_usd_per_million: 2 });
    await put('import/other', { input_usd_per_million: 1, output_usd_per_million: 2 });
    const model = (name: string, price: number | undefined = 2) => ({
      provider,
      model: name,
      input_usd_per_million: 1,
      output_usd_per_million: price,
    });
    const models = [model('import/same'), model('import/other', 3), model('import/new')];
    const counts = { created: 1, updated: 1, unchanged: 1 };
    const dry = await admin.call('POST', '/models/import', { body: { models, dry_run: true } });
    expect([dry.status, dry.body]).toEqual([201, { dry_run: true, ...counts }]);
    expect(await storedPrices('import/new')).toBeUndefined();
    const broken = { provider, model: 'import/broken', input_usd_per_million: 1 };
    const refused = await admin.call('POST', '/models/import', { body: { models: [...models, broken] } });
    expect([refused.status, refused.body.error.param]).toEqual([400, 'output_usd_per_million']);
    expect(await storedPrices('import/new')).toBeUndefined();
    const reloads = admin.reloads();
    const done = await admin.call('POST', '/models/import', { body: { models } });
    expect(done.body).toEqual({ dry_run: false, ...counts });
    expect(admin.reloads()).toBe(reloads + 1);
    expect(await storedPrices('import/new')).toMatchObject({ prices: { input: 1_000_000, output: 2_000_000 } });
    expect(await storedPrices('import/other')).toMatchObject({ prices: { output: 3_000_000 } });
    const audit = await admin.call('GET', '/audit?resource=model&resource_id=many&limit=1');
    expect(audit.body.data[0]).toMatchObject({
      action: 'import',
      after: { models: [`${provider}/import/other`, `${provider}/import/new`] },
    });
  });

  test('DELETE takes the price out of force', async () => {
    await put('gone', { input_usd_per_million: 1, output_usd_per_million: 1 });
    const reloads = admin.reloads();
    expect((await admin.call('DELETE', pathOf('gone'))).status).toBe(204);
    expect(admin.reloads()).toBe(reloads + 1);
    expect(await storedPrices('gone')).toBeUndefined();
    expect((await admin.call('DELETE', pathOf('gone'))).status).toBe(404);
    const audit = await admin.call('GET', `/audit?resource=model&resource_id=${provider}/gone`);
    expect(audit.body.data.map((entry: { action: string }) => entry.action)).toEqual(['delete', 'create']);
  });
});
