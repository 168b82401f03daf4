import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import OpenAI, { toFile } from 'openai';
import type { FakeBehaviour } from '../fake-upstream/behaviour';
import { fakePicture } from '../fake-upstream/render-tasks';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { logRow, ON_ONE_KIND, settledLedger, shareEnvironment, type TestEnvironment, waitUntil } from './environment';

const SETUP_MS = 60_000;
const PICTURE = Buffer.from(fakePicture('a photograph'), 'base64');

/** By token class: text $5, cached $1.25, image $8, output $30 per million. */
const BY_TOKEN = {
  mode: 'image',
  ...{ input_usd_per_million: 5, cache_read_usd_per_million: 1.25, output_usd_per_million: 10 },
  ...{ input_image_usd_per_million: 8, cache_read_image_usd_per_million: 2, output_image_usd_per_million: 30 },
};
const BY_IMAGE = {
  ...{ mode: 'image', image_usd: 0.04 },
  image_sizes: [{ quality: 'high', size: '1024x1024', image_usd: 0.17 }],
};

const PRICES: readonly [provider: string, model: string, prices: Record<string, unknown>][] = [
  ['openai', 'gpt-image-9', BY_TOKEN],
  ['openai', 'gpt-image-sizes', BY_IMAGE],
  ['openai', 'gpt-image-bounded', { ...BY_TOKEN, max_output_tokens: 20_000 }],
  ['openai', 'gpt-writer', { input_usd_per_million: 1, output_usd_per_million: 6 }],
  ['azure', 'my-image', BY_TOKEN],
  ['gemini', 'gemini-9-flash-image', { ...BY_TOKEN, mode: 'chat' }],
  ['gemini', 'imagen-9', { mode: 'image', image_usd: 0.04 }],
  ['bedrock', 'amazon.nova-canvas-v9:0', { mode: 'image', image_usd: 0.04 }],
  ['xai', 'grok-9-image', { mode: 'image', image_usd: 0.07 }],
  ['together', 'flux/schnell', { mode: 'image', image_usd: 0.003 }],
];

describe.each(ON_ONE_KIND)('images on %s stores', (kind) => {
  let world: TestEnvironment;
  let apiKey: string;
  let projectId: string;
  beforeAll(async () => {
    world = await shareEnvironment({
      kind,
      env: ({ url }) => ({
        ...{ AZURE_OPENAI_API_KEY: 'azure-fake-key', AZURE_OPENAI_ENDPOINT: url },
        ...{ TOGETHER_API_KEY: 'together-fake-key', TOGETHER_BASE_URL: `${url}/together/v1` },
        ...{ XAI_API_KEY: 'xai-fake-key', XAI_BASE_URL: `${url}/xai/v1` },
      }),
    });
    for (const [provider, model, body] of PRICES) {
      const path = `/models?provider=${provider}&model=${encodeURIComponent(model)}`;
      await callAdmin(world.gateway, path, { method: 'PUT', body });
    }
  }, SETUP_MS);
  beforeEach(async () => {
    world.upstream.control.reset();
    ({ apiKey, projectId } = await createTestKey(world.gateway));
  });
  afterAll(() => world.close(), SETUP_MS);

  interface Answer {
    readonly data?: readonly { b64_json?: string; url?: string; revised_prompt?: string }[];
    readonly usage?: Record<string, unknown>;
    readonly cost_usd?: number;
    readonly error?: { code: string; message: string; param: string | null };
  }
  const send = async (path: string, init: RequestInit) => {
    const response = await fetch(`${world.gateway.url}${path}`, {
      ...init,
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, ...(init.headers as Record<string, string>) },
    });
    const text = await response.text();
    const json = (text.startsWith('{') ? JSON.parse(text) : {}) as Answer;
    return { response, text, json, row: () => logRow(world.gateway, response.headers.get('x-request-id') ?? '') };
  };
  const generate = (body: Record<string, unknown>, headers: Record<string, string> = {}) =>
    send('/v1/images/generations', {
      body: JSON.stringify({ prompt: 'a cat', ...body }),
      headers: { 'content-type': 'application/json', ...headers },
    });
  const edit = (
    fields: Record<string, string>,
    files: readonly Blob[] = [new Blob([PICTURE], { type: 'image/png' })],
  ) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    for (const file of files) form.append(files.length === 1 ? 'image' : 'image[]', file, 'p.png');
    return send('/v1/images/edits', { body: form });
  };
  const update = (fields: Record<string, unknown>) =>
    callAdmin(world.gateway, `/projects/${projectId}`, { method: 'PATCH', body: fields });
  const sdk = () => new OpenAI({ apiKey, baseURL: `${world.gateway.url}/v1`, maxRetries: 0 });
  const received = () => world.upstream.control.counters.received;
  const sent = () => world.upstream.requests.at(-1)?.body;

  /** Request, what the vendor reports, and the whole bill in nano-USD. */
  const BILLS: readonly [
    request: Record<string, unknown>,
    usage: FakeBehaviour['usage'],
    nanoUsd: number,
    row: Record<string, unknown>,
  ][] = [
    // Text 10 × 5000 + output 100 × 30,000.
    [{ model: 'gpt-image-9' }, undefined, 3_050_000, { tokens_in: 10, tokens_out: 100, units: { images: 1 } }],
    [{ model: 'gpt-image-9' }, { prompt: 100, cached: 40, completion: 1000 }, 30_350_000, { tokens_cache_read: 40 }],
    [{ model: 'azure/my-image', n: 2 }, { prompt: 20, completion: 200 }, 6_100_000, { units: { images: 2 } }],
    // Guessed: a cat 2 × 5000 + 1024 × 1024 in low quality 272 × 30,000.
    [
      { model: 'gpt-image-9', quality: 'low', size: '1024x1024' },
      null,
      8_170_000,
      { cost_estimated: true, tokens_out: 272 },
    ],
    [{ model: 'gpt-image-sizes', n: 3 }, null, 120_000_000, { units: { images: 3 }, cost_estimated: false }],
    [{ model: 'gpt-image-sizes', quality: 'high', size: '1024x1024' }, null, 170_000_000, { units: { images: 1 } }],
    [{ model: 'gpt-image-sizes', quality: 'low', size: '1024x1024' }, null, 40_000_000, { units: { images: 1 } }],
    [{ model: 'gemini-9-flash-image' }, { prompt: 10, completion: 1290 }, 38_750_000, { tokens_out: 1290 }],
    [{ model: 'gemini/imagen-9', n: 2 }, undefined, 80_000_000, { units: { images: 2 }, provider: 'gemini' }],
    [{ model: 'grok-9-image' }, undefined, 70_000_000, { provider: 'xai' }],
    [{ model: 'bedrock/amazon.nova-canvas-v9:0', n: 2 }, undefined, 80_000_000, { provider: 'bedrock' }],
    [{ model: 'together/flux/schnell', size: '512x256', steps: 4 }, undefined, 3_000_000, { provider: 'together' }],
  ];

  test.each(BILLS)('%j with usage %j costs %d nano-USD', async (request, usage, nanoUsd, expected) => {
    world.upstream.control.setDefault(usage === undefined ? {} : { usage });
    const { response, json, row } = await generate(request);
    expect([response.status, json.error]).toEqual([200, undefined]);
    const count = Number(request.n ?? 1);
    expect(json.data?.map(({ b64_json }) => b64_json)).toEqual(
      Array.from({ length: count }, (_, index) => fakePicture('a cat', index)),
    );
    expect(json.cost_usd).toBe(nanoUsd / 1e9);
    expect(await row()).toMatchObject({
      ...{ status: 'success', cost_usd: nanoUsd / 1e9, dialect: 'openai-images', modality: 'image' },
      ...expected,
    });
  });

  test.each([false, true])('an SVG costs as its image and as the model that wrote it, streamed: %p', async (stream) => {
    const svg = { model: 'gpt-writer' };
    const request = { model: 'gpt-image-9', output_format: 'svg', svg, stream };
    const { response, row } = await generate(request);
    expect(response.status).toBe(200);
    // The image 3,050,000; text 20 × 1000 and 500 × 6000.
    expect(await row()).toMatchObject({ cost_usd: 0.00607, cost_estimated: false, tokens_in: 30, tokens_out: 600 });
    // The vendor chooses the model, and names it with the usage.
    const chosen = await generate({ ...request, svg: {} });
    expect(await chosen.row()).toMatchObject({ cost_usd: 0.00607, cost_estimated: false, tokens_in: 30 });
    const unknown = await generate({ ...request, svg: { model: 'gpt-unknown' } });
    expect([unknown.response.status, unknown.json.error?.code]).toEqual([400, 'model_not_priced']);
    await update({ strict_caps: true, monthly_cap_usd: 5 });
    for (const by of [svg, {}]) {
      const unbounded = await generate({ ...request, svg: by, model: 'gpt-image-bounded' });
      expect(unbounded.json.error).toMatchObject({ code: 'request_over_limit', param: 'svg.model' });
    }
    expect((await settledLedger(world.gateway)).ok).toBe(true);
  });

  test('each vendor is asked in its own words', async () => {
    await generate({ model: 'together/flux/schnell', size: '512x256', steps: 4 });
    expect(sent()).toMatchObject({ width: 512, height: 256, steps: 4, response_format: 'base64' });
    await generate({ model: 'gemini/imagen-9', size: '1792x1024' });
    expect(sent()).toEqual({
      instances: [{ prompt: 'a cat' }],
      parameters: { sampleCount: 1, aspectRatio: '7:4', sampleImageSize: '2K' },
    });
    await generate({ model: 'gpt-image-9', background: 'transparent', output_compression: 50, user: 'u' });
    expect(sent()).toEqual({
      ...{ model: 'gpt-image-9', prompt: 'a cat', background: 'transparent', output_compression: 50, user: 'u' },
    });
    const { json } = await generate({ model: 'grok-9-image', quality: 'high' });
    expect([json.error?.code, json.error?.param]).toEqual(['unsupported_parameter', 'quality']);
  });

  test('the official SDK generates, plain and streamed with unfinished images', async () => {
    const plain = await sdk().images.generate({ model: 'gpt-image-9', prompt: 'a cat', n: 2 });
    expect(plain.data?.map(({ b64_json }) => b64_json)).toEqual([fakePicture('a cat', 0), fakePicture('a cat', 1)]);
    expect(plain.usage).toMatchObject({ input_tokens: 10, output_tokens: 100, total_tokens: 110 });
    const request = { model: 'gpt-image-9', prompt: 'a dog', stream: true, partial_images: 2 } as const;
    const { data, response } = await sdk().images.generate(request).withResponse();
    const events = [];
    for await (const event of data) events.push(event);
    expect(events.map(({ type }) => type)).toEqual([
      'image_generation.partial_image',
      'image_generation.partial_image',
      'image_generation.completed',
    ]);
    expect(events.at(-1)).toMatchObject({ b64_json: fakePicture('a dog'), usage: { output_tokens: 100 } });
    const row = await logRow(world.gateway, response.headers.get('x-request-id') ?? '');
    const units = { images: 1 };
    expect(row).toMatchObject({ status: 'success', stream: true, cost_usd: 0.00305, tokens_out: 100, units });
  });

  test('the official SDK edits pictures, plain and streamed', async () => {
    world.upstream.control.setDefault({ usage: { prompt: 60, pictures: 50, completion: 100 } });
    const image = await toFile(PICTURE, 'p.png', { type: 'image/png' });
    const request = { model: 'gpt-image-9', prompt: 'a hat', image: [image, image], mask: image };
    const { data, response } = await sdk().images.edit(request).withResponse();
    expect(data.data?.[0]?.b64_json).toBe(fakePicture('a hat'));
    const file = `image/png ${PICTURE.length}`;
    expect(sent()).toEqual({ model: 'gpt-image-9', prompt: 'a hat', 'image[]': [file, file], mask: file });
    const row = await logRow(world.gateway, response.headers.get('x-request-id') ?? '');
    // Text 10 × 5000 + pictures 50 × 8000 + output 100 × 30,000.
    expect(row).toMatchObject({ dialect: 'openai-image-edits', modality: 'image', cost_usd: 0.00345 });
    const stream = await sdk().images.edit({
      model: 'gpt-image-9',
      prompt: 'b',
      image,
      stream: true,
      partial_images: 1,
    });
    const types = [];
    for await (const event of stream) types.push(event.type);
    expect(types).toEqual(['image_edit.partial_image', 'image_edit.completed']);
    expect(sent()).toMatchObject({ stream: 'true', partial_images: '1', image: file });
  });

  test('pictures go to other vendors as their APIs take them', async () => {
    const url = `data:image/png;base64,${PICTURE.toString('base64')}`;
    const xai = await edit({ model: 'grok-9-image', prompt: 'p' });
    expect([xai.response.status, sent()]).toEqual([200, expect.objectContaining({ image: { url } })]);
    const gemini = await edit({ model: 'gemini-9-flash-image', prompt: 'p' });
    const inlineData = { mimeType: 'image/png', data: PICTURE.toString('base64') };
    expect(gemini.response.status).toBe(200);
    expect(JSON.stringify(sent())).toContain(JSON.stringify({ inlineData }));
    expect((await edit({ model: 'azure/my-image', prompt: 'p' })).json.data).toHaveLength(1);
    expect(world.upstream.requests.at(-1)?.path).toBe('/openai/deployments/my-image/images/edits');
  });

  test('a stream of a vendor without streams is one event', async () => {
    const stream = await sdk().images.generate({ model: 'imagen-9', prompt: 'a cat', stream: true, partial_images: 3 });
    const events = [];
    for await (const event of stream) events.push(event);
    expect(events).toMatchObject([{ type: 'image_generation.completed', b64_json: fakePicture('a cat') }]);
  });

  test('a stream that breaks off tells so, and is never free', async () => {
    const failures = async () => {
      const metrics = await (await fetch(`${world.gateway.url}/metrics`)).text();
      return Number(/^llm0_upstream_failures_total\{.*failure="truncated".*\} (\d+)$/m.exec(metrics)?.[1] ?? 0);
    };
    const before = await failures();
    world.upstream.control.setDefault({ truncateAfter: 1 });
    const request = { model: 'gpt-image-9', stream: true, partial_images: 2, quality: 'low', size: '1024x1024' };
    const { text, row } = await generate(request);
    expect(text).toContain('image_generation.partial_image');
    expect(text).toContain('event: error');
    expect(await failures()).toBe(before + 1);
    // The bound: text 2 × 5000 + (272 + 2 × 100) × 30,000.
    expect(await row()).toMatchObject({ status: 'error', cost_usd: 0.01417, cost_estimated: true });
  });

  test('a caller that leaves a stream pays for it', async () => {
    world.upstream.control.setDefault({ hangAfter: 1 });
    const leaving = new AbortController();
    const response = await fetch(`${world.gateway.url}/v1/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-image-9', prompt: 'p', stream: true, partial_images: 1, quality: 'low' }),
      signal: leaving.signal,
    });
    await response.body?.getReader().read();
    leaving.abort();
    const row = await logRow(world.gateway, response.headers.get('x-request-id') ?? '');
    expect(row).toMatchObject({ status: 'aborted', cost_estimated: true });
    expect(row.cost_usd).toBeGreaterThan(0.01);
    expect((await settledLedger(world.gateway)).ok).toBe(true);
  });

  test('an early error lets the next target answer', async () => {
    const targets = [
      { provider: 'openai', model: 'gpt-image-9' },
      { provider: 'gemini', model: 'imagen-9' },
    ];
    await callAdmin(world.gateway, '/aliases', { body: { alias: 'painter', project_id: projectId, targets } });
    world.upstream.control.setModel('gpt-image-9', { status: 500 });
    const { response, json } = await generate({ model: 'painter' });
    expect([response.headers.get('x-provider'), json.cost_usd]).toEqual(['gemini', 0.04]);
  });

  test('only a caller who names a lifetime gets an image from the cache', async () => {
    await generate({ model: 'imagen-9' });
    await generate({ model: 'imagen-9' });
    expect(received()).toBe(2);
    const ttl = { 'X-LLM0-Cache-TTL': '60' };
    await generate({ model: 'imagen-9' }, ttl);
    const hit = await generate({ model: 'imagen-9' }, ttl);
    expect([hit.response.headers.get('x-cache-hit'), hit.json.cost_usd, received()]).toEqual(['exact', 0, 3]);
    expect(hit.json.data?.[0]?.b64_json).toBe(fakePicture('a cat'));
  });

  test('an Idempotency-Key replays an image, streams too', async () => {
    const key = { 'Idempotency-Key': crypto.randomUUID() };
    const request = { model: 'gpt-image-9', stream: true, partial_images: 1 };
    const first = await generate(request, key);
    const again = await generate(request, key);
    expect(again.response.headers.get('x-idempotent-replay')).toBe('true');
    expect([again.text.replace(/"created_at":\d+/, ''), received()]).toEqual([
      first.text.replace(/"created_at":\d+/, ''),
      1,
    ]);
  });

  test('the bound is the hold', async () => {
    // Three of high quality cost $0.51 at most.
    await update({ monthly_cap_usd: 0.5 });
    const request = { model: 'gpt-image-sizes', quality: 'high', size: '1024x1024' };
    const dear = await generate({ ...request, n: 3 });
    expect([dear.response.status, dear.json.error?.code]).toEqual([402, 'spend_cap_exceeded']);
    expect((await generate({ ...request, n: 2 })).response.status).toBe(200);
    expect(received()).toBe(1);
  });

  test('strict caps refuse by name what has no bound', async () => {
    await update({ monthly_cap_usd: 10, strict_caps: true, default_output_tokens: 100 });
    const open = await generate({ model: 'gpt-image-9' });
    expect([open.response.status, open.json.error?.code, open.json.error?.param]).toEqual([
      ...[400, 'request_over_limit', 'model'],
    ]);
    const picture = await edit({ model: 'gpt-image-bounded', prompt: 'p' });
    expect([picture.json.error?.code, picture.json.error?.param]).toEqual(['request_over_limit', 'image']);
    expect(received()).toBe(0);
    expect((await generate({ model: 'gpt-image-bounded' })).response.status).toBe(200);
    expect((await generate({ model: 'imagen-9' })).response.status).toBe(200);
  });

  test('a missing price is a refusal, also where text has one', async () => {
    for (const model of ['gpt-4o', 'openai/gpt-image-never-priced']) {
      const { response, json } = await generate({ model });
      expect([model, response.status, json.error?.code]).toEqual([model, 400, 'model_not_priced']);
    }
    expect(received()).toBe(0);
  });

  test('wrong forms and pictures are refused clearly, and nothing is charged', async () => {
    const text = new Blob(['no picture'], { type: 'image/png' });
    const editJson = (images: readonly object[]) => {
      const body = JSON.stringify({ model: 'gpt-image-9', prompt: 'p', images });
      return send('/v1/images/edits', { body, headers: { 'content-type': 'application/json' } });
    };
    const cases: [() => ReturnType<typeof edit>, number, string | null][] = [
      [() => edit({ model: 'gpt-image-9', prompt: 'p' }, [text]), 400, 'image'],
      [() => edit({ model: 'gpt-image-9', prompt: 'p' }, [new Blob([])]), 400, 'image'],
      [() => edit({ model: 'gpt-image-9', prompt: 'p' }, []), 400, 'image'],
      [() => edit({ model: 'gpt-image-9' }), 400, 'prompt'],
      [() => edit({ model: 'gpt-image-9', prompt: 'p', n: '99' }), 400, 'n'],
      [() => generate({ model: 'gpt-image-9', size: 'huge' }), 400, 'size'],
      [() => generate({ model: 'gpt-image-9', partial_images: 9 }), 400, 'partial_images'],
      [
        () =>
          send('/v1/images/edits', { body: 'a=b', headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
        415,
        'Content-Type',
      ],
      [() => editJson([]), 400, 'image'],
      [() => editJson([{ file_id: `file-${'0'.repeat(32)}` }]), 404, 'images[0].file_id'],
      [() => editJson([{ image_url: 'https://a.example/x.png' }]), 400, 'images[0]'],
      [() => editJson([{ image_url: 'data:image/png;base64,bm8=' }]), 400, 'image'],
      [
        () => send('/v1/images/edits', { body: 'x', headers: { 'content-type': 'multipart/form-data' } }),
        400,
        'Content-Type',
      ],
      [
        () =>
          send('/v1/images/edits', {
            body: '--b\r\nContent-Disposition: form-data; name="image"; filename="p"\r\n\r\n\x89PNG',
            headers: { 'content-type': 'multipart/form-data; boundary=b' },
          }),
        400,
        null,
      ],
      [
        () => edit({ model: 'gpt-image-9', prompt: 'p' }, [new Blob([PICTURE, new Uint8Array(21 * 1024 * 1024)])]),
        413,
        null,
      ],
    ];
    for (const [ask, status, param] of cases) {
      const { response, json } = await ask();
      expect([response.status, json.error?.param]).toEqual([status, param]);
    }
    expect(received()).toBe(0);
    const { projects } = await settledLedger(world.gateway);
    expect(projects.find(({ project_id }) => project_id === projectId)?.logs_usd ?? 0).toBe(0);
  });

  test('guardrails judge prompts and what comes back, and refuse pictures', async () => {
    const rules = [
      { name: 'no-hush', on: 'input', check: { type: 'words', words: ['hush'] }, action: 'block' },
      { name: 'no-cats', on: 'output', check: { type: 'words', words: ['cat'] }, action: 'redact' },
    ];
    const path = `/projects/${projectId}/guardrails`;
    await callAdmin(world.gateway, path, { method: 'PUT', body: { mode: 'enforce', rules } });
    const blocked = await generate({ model: 'grok-9-image', prompt: 'hush' });
    expect([blocked.response.status, blocked.json.error?.param, received()]).toEqual([400, 'no-hush', 0]);
    const shown = await generate({ model: 'grok-9-image' });
    expect(shown.json.data?.[0]?.revised_prompt).not.toContain('cat');
    const picture = await edit({ model: 'gpt-image-9', prompt: 'p' });
    expect([picture.response.status, picture.json.error?.param]).toEqual([400, 'image']);
  });

  test('an image that guardrails withhold costs what the vendor told', async () => {
    const rules = [{ name: 'no-cats', on: 'output', check: { type: 'words', words: ['cat'] }, action: 'block' }];
    const path = `/projects/${projectId}/guardrails`;
    await callAdmin(world.gateway, path, { method: 'PUT', body: { mode: 'enforce', rules } });
    const { response, json, row } = await generate({ model: 'gpt-image-9' });
    expect([response.status, json.error?.param]).toEqual([400, 'no-cats']);
    expect(await row()).toMatchObject({
      ...{ status: 'error', error_code: 'guardrail_blocked', final_provider: 'openai' },
      ...{ cost_usd: 0.00305, tokens_out: 100, cost_estimated: false },
    });
  });

  test('a request leaves nothing behind', async () => {
    await waitUntil(() => world.upstream.control.counters.waiting === 0);
    expect((await settledLedger(world.gateway)).open_holds).toBe(0);
  });
});
