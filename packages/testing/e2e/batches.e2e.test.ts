import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI, { toFile } from 'openai';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { allLogs, ON_ONE_KIND, settledLedger, shareEnvironment, type TestEnvironment } from './environment';

const SETUP_MS = 60_000;
const TEST_MS = 60_000;
const ENDPOINT = '/v1/chat/completions';
const MODALITIES: Readonly<Record<string, string>> = {
  '/v1/embeddings': 'embedding',
  '/v1/moderations': 'moderation',
  '/v1/images/generations': 'image',
  '/v1/images/edits': 'image',
};
const PICTURE = Buffer.from('\x89PNG\r\n\x1a\nand more', 'latin1');
const ENDS = ['completed', 'failed', 'expired', 'cancelled'];

interface OutputLine {
  readonly custom_id: string;
  readonly response: { readonly status_code: number; readonly request_id: string; readonly body: { error?: object } };
}

const parseLines = <T>(text: string): T[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);

describe.each(ON_ONE_KIND)('files and batches on %s stores', (kind) => {
  let world: TestEnvironment;
  let openai: OpenAI;
  let anthropic: Anthropic;
  let projectId: string;
  let keyId: string;
  beforeAll(async () => {
    world = await shareEnvironment({ kind });
  }, SETUP_MS);
  const clientsOf = async (options: Parameters<typeof createTestKey>[1] = {}) => {
    const key = await createTestKey(world.gateway, {
      ...options,
      key: { rate_limit_per_minute: null, ...options.key },
    });
    const { apiKey } = key;
    return {
      ...key,
      openai: new OpenAI({ apiKey, baseURL: `${world.gateway.url}/v1`, maxRetries: 0 }),
      anthropic: new Anthropic({ apiKey, baseURL: world.gateway.url, maxRetries: 0 }),
    };
  };
  beforeEach(async () => {
    world.upstream.control.reset();
    ({ openai, anthropic, projectId, keyId } = await clientsOf({ project: { cache_enabled: false } }));
  });
  afterAll(() => world.close(), SETUP_MS);

  const chat = (index: number, more: object = {}) => ({
    custom_id: `line-${index}`,
    method: 'POST',
    url: ENDPOINT,
    body: { model: 'gpt-4o-mini', max_tokens: 50, messages: [{ role: 'user', content: `hello ${index}` }], ...more },
  });
  const upload = async (lines: readonly unknown[], client = openai) => {
    const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
    return client.files.create({ file: await toFile(Buffer.from(text), 'input.jsonl'), purpose: 'batch' });
  };
  const create = async (lines: readonly unknown[], { client = openai, endpoint = ENDPOINT } = {}) => {
    const file = await upload(lines, client);
    const params = { input_file_id: file.id, endpoint, completion_window: '24h' } as OpenAI.BatchCreateParams;
    return client.batches.create(params, { headers: { 'x-customer-id': 'acme', 'x-llm0-team': 'search' } });
  };
  const ended = async (id: string, client = openai) => {
    for (;;) {
      const batch = await client.batches.retrieve(id);
      if (ENDS.includes(batch.status)) return batch;
      await Bun.sleep(50);
    }
  };
  const contentOf = async (id: string | null | undefined) => (await openai.files.content(id ?? '')).text();
  const linesOf = async (id: string | null | undefined) => parseLines<OutputLine>(await contentOf(id));
  const contentForAdmins = async (batchId: string, file: 'output' | 'error') => {
    const headers = { authorization: `Bearer ${world.gateway.adminToken}` };
    return (await fetch(`${world.gateway.url}/admin/v1/batches/${batchId}/files/${file}`, { headers })).text();
  };

  test('a file is stored, listed, read and deleted, and is another project’s to nobody', async () => {
    const bytes = crypto.getRandomValues(new Uint8Array(300_000));
    const expiry = { anchor: 'created_at', seconds: 3600 } as const;
    const file = await openai.files.create({
      ...{ file: await toFile(bytes, 'picture ä.png'), purpose: 'vision', expires_after: expiry },
    });
    expect(file).toMatchObject({ object: 'file', bytes: 300_000, filename: 'picture ä.png', purpose: 'vision' });
    expect((file.expires_at ?? 0) - file.created_at).toBe(3600);
    const { _request_id: _, ...plain } = file as typeof file & { _request_id?: string };
    expect(await openai.files.retrieve(file.id)).toMatchObject(plain);
    expect(new Uint8Array(await (await openai.files.content(file.id)).arrayBuffer())).toEqual(bytes);
    const other = await upload(['{}']);
    expect((await openai.files.list({ order: 'asc' })).data.map(({ id }) => id)).toEqual([file.id, other.id]);
    expect((await openai.files.list({ limit: 1 })).data.map(({ id }) => id)).toEqual([other.id]);
    expect((await openai.files.list({ after: other.id })).data.map(({ id }) => id)).toEqual([file.id]);
    expect((await openai.files.list({ purpose: 'vision' })).data.map(({ id }) => id)).toEqual([file.id]);

    const stranger = await clientsOf();
    const asStranger = stranger.openai;
    for (const attempt of [
      () => asStranger.files.retrieve(file.id),
      () => asStranger.files.content(file.id),
      () => asStranger.files.delete(file.id),
      () => asStranger.batches.create({ input_file_id: other.id, endpoint: ENDPOINT, completion_window: '24h' }),
    ]) {
      expect(await attempt().catch(({ status }) => status)).toBe(404);
    }
    expect((await asStranger.files.list()).data).toEqual([]);
    expect(await openai.files.delete(file.id)).toMatchObject({ id: file.id, deleted: true });
    expect(await openai.files.retrieve(file.id).catch(({ status }) => status)).toBe(404);
  });

  test('requests about files and refused batches leave rows, and files count against the rate of their key', async () => {
    const limited = await clientsOf({ key: { rate_limit_per_minute: 3, rate_limit_burst: 3 } });
    const file = await upload(['{}'], limited.openai);
    const make = { input_file_id: 'file-none', endpoint: ENDPOINT, completion_window: '24h' } as const;
    const statusOf = ({ status }: { status: number }) => status;
    const refused = await limited.openai.batches
      .create(make)
      .catch((error: InstanceType<typeof OpenAI.APIError>) => error);
    expect(refused).toMatchObject({ status: 404, param: 'input_file_id' });
    const { headers } = await limited.openai.files.retrieve(file.id).asResponse();
    expect(await limited.openai.files.retrieve('file-none').catch(statusOf)).toBe(404);
    expect(await limited.openai.files.list().catch(statusOf)).toBe(429);
    const ledger = await settledLedger(world.gateway);
    expect(ledger.open_holds).toBe(0);
    const rows = await allLogs(world.gateway, `project_id=${limited.projectId}`);
    const shown = rows.map(({ modality, http_status, cost_usd }) => `${modality} ${http_status} ${cost_usd}`);
    expect(shown.sort()).toEqual(['batch 404 0', 'file 200 0', 'file 200 0', 'file 404 0', 'file 429 0']);
    expect(rows.map(({ request_id }) => request_id)).toContain(headers.get('x-request-id') ?? '');
  });

  test.each([
    ['no purpose', { purpose: '' }, 'purpose'],
    [
      'an expiry too soon',
      { purpose: 'batch', 'expires_after[anchor]': 'created_at', 'expires_after[seconds]': '5' },
      'expires_after',
    ],
    ['two purposes', { purpose: ['batch', 'vision'] }, 'purpose'],
    ['no bytes', { purpose: 'batch', file: new File([], 'x.txt') }, 'file'],
  ])('an upload with %s is refused and leaves nothing', async (_name, fields, param) => {
    const form = new FormData();
    const given = { file: new File(['x'], 'x.txt'), ...fields };
    for (const [name, values] of Object.entries<string | File | string[]>(given)) {
      for (const value of [values].flat()) form.append(name, value);
    }
    const { apiKey } = openai;
    const headers = { authorization: `Bearer ${apiKey}` };
    const answer = await fetch(`${world.gateway.url}/v1/files`, { method: 'POST', headers, body: form });
    expect([answer.status, ((await answer.json()) as { error: { param: string } }).error.param]).toEqual([400, param]);
    expect((await openai.files.list()).data).toEqual([]);
  });

  test(
    'a batch runs each line once as its key, with rows, files and sums that match',
    async () => {
      const bad = { ...chat(3), body: { model: 'no-such-model', messages: [{ role: 'user', content: 'x' }] } };
      const lines = [chat(0), chat(1), '', bad, chat(2, { x_fake: { usage: { prompt: 7, completion: 5 } } })];
      const made = await create(lines);
      expect(made).toMatchObject({ object: 'batch', endpoint: ENDPOINT, request_counts: { total: 4 } });
      const batch = await ended(made.id);
      expect(batch).toMatchObject({
        status: 'completed',
        request_counts: { total: 4, completed: 3, failed: 1 },
      });
      const output = await linesOf(batch.output_file_id);
      expect(output.map((line) => line.custom_id)).toEqual(['line-0', 'line-1', 'line-2']);
      expect(output.every(({ response }) => response.status_code === 200)).toBe(true);
      const errors = await linesOf(batch.error_file_id);
      expect(errors.map((line) => [line.custom_id, line.response.status_code])).toEqual([['line-3', 404]]);
      expect(await contentForAdmins(made.id, 'output')).toBe(await contentOf(batch.output_file_id));
      expect(await contentForAdmins(made.id, 'error')).toBe(await contentOf(batch.error_file_id));

      const ledger = await settledLedger(world.gateway);
      const rows = await allLogs(world.gateway, `project_id=${projectId}&modality=batch&label.batch=${made.id}`);
      expect(rows.length).toBe(4);
      expect(new Set(rows.map((row) => row.request_id))).toEqual(
        new Set([...output, ...errors].map(({ response }) => response.request_id)),
      );
      expect(rows.every(({ labels }) => labels?.team === 'search')).toBe(true);
      const spent = rows.reduce((sum, row) => sum + Math.round(row.cost_usd * 1e9), 0);
      const shown = await callAdmin<{ cost_usd: number; api_key_id: string }>(world.gateway, `/batches/${made.id}`);
      expect([Math.round(shown.cost_usd * 1e9), shown.api_key_id]).toEqual([spent, keyId]);
      expect(spent).toBeGreaterThan(0);
      expect(ledger.projects.find((one) => one.project_id === projectId)?.diff_usd).toBe(0);
      expect(ledger.open_holds).toBe(0);
      expect(world.upstream.control.counters.received).toBe(3);
      expect((await openai.batches.list()).data.map(({ id }) => id)).toEqual([made.id]);
      const { openai: stranger } = await clientsOf();
      expect(await stranger.batches.retrieve(made.id).catch(({ status }) => status)).toBe(404);
      expect(await stranger.batches.cancel(made.id).catch(({ status }) => status)).toBe(404);
    },
    TEST_MS,
  );

  test(
    'every endpoint that batches may use answers its lines',
    async () => {
      const picture = await openai.files.create({ file: await toFile(PICTURE, 'p.png'), purpose: 'vision' });
      const images = [{ file_id: picture.id }, { image_url: `data:image/png;base64,${PICTURE.toString('base64')}` }];
      const bodies: Record<string, object> = {
        '/v1/responses': { model: 'gpt-4o-mini', input: 'hello' },
        '/v1/completions': { model: 'gpt-4o-mini', prompt: 'hello' },
        '/v1/embeddings': { model: 'text-embedding-3-small', input: ['a', 'b'] },
        '/v1/moderations': { model: 'omni-moderation-latest', input: 'hello' },
        '/v1/images/generations': { model: 'gpt-image-2', prompt: 'a cat' },
        '/v1/images/edits': { model: 'gpt-image-2', prompt: 'a cat', images, mask: { file_id: picture.id } },
      };
      const made = await Promise.all(
        Object.entries(bodies).map(async ([endpoint, body]) => {
          const { id } = await create([{ custom_id: 'one', method: 'POST', url: endpoint, body }], { endpoint });
          return { endpoint, id, batch: await ended(id) };
        }),
      );
      await settledLedger(world.gateway);
      for (const { endpoint, id, batch } of made) {
        expect([endpoint, batch.request_counts?.completed]).toEqual([endpoint, 1]);
        const rows = await allLogs(world.gateway, `project_id=${projectId}&label.batch=${id}`);
        expect([endpoint, rows.map((row) => row.modality)]).toEqual([endpoint, [MODALITIES[endpoint] ?? 'batch']]);
      }
    },
    TEST_MS,
  );

  test(
    'a key that is revoked under way leaves its reason in each line',
    async () => {
      const lines = Array.from({ length: 200 }, (_, index) => chat(index, { x_fake: { firstDelayMs: 20 } }));
      const { id } = await create(lines);
      const keys = `/projects/${projectId}/keys`;
      const reader = await callAdmin<{ key: string }>(world.gateway, keys, { body: { name: 'reader' } });
      while (((await openai.batches.retrieve(id)).request_counts?.completed ?? 0) === 0) await Bun.sleep(20);
      await callAdmin(world.gateway, `${keys}/${keyId}`, { method: 'PATCH', body: { is_active: false } });
      openai = new OpenAI({ apiKey: reader.key, baseURL: `${world.gateway.url}/v1`, maxRetries: 0 });
      const batch = await ended(id);
      const errors = await linesOf(batch.error_file_id);
      expect(errors.length).toBe(batch.request_counts?.failed ?? 0);
      expect(errors.length).toBeGreaterThan(0);
      for (const { response } of errors) {
        expect(response).toMatchObject({
          status_code: 401,
          body: {
            error: { code: 'invalid_api_key', message: expect.stringContaining('key of this batch was revoked') },
          },
        });
      }
    },
    TEST_MS,
  );

  test('broken lines fail the batch with their numbers, and nothing is asked or held', async () => {
    const lines = [chat(0), '{"custom_id":', chat(0), { ...chat(1), url: '/v1/embeddings' }, chat(2, { stream: true })];
    lines.push({ ...chat(3), custom_id: 'a\0b' });
    const batch = await create(lines);
    expect(batch).toMatchObject({ status: 'failed', output_file_id: null });
    expect(batch.errors?.data?.map(({ code, line }) => [code, line])).toEqual([
      ['invalid_json_line', 2],
      ['duplicate_custom_id', 3],
      ['mismatched_endpoint', 4],
      ['invalid_body', 5],
      ['invalid_custom_id', 6],
    ]);
    expect(world.upstream.control.counters.received).toBe(0);
    expect((await create(['', ''])).errors?.data?.[0]?.code).toBe('empty_file');
  });

  test(
    'a batch holds the most that it may cost; one that does not fit is refused, and a cancelled one gives it back',
    async () => {
      const { openai: poor, projectId: poorId } = await clientsOf({
        ...{ project: { cache_enabled: false, monthly_cap_usd: 0.01 }, key: { max_concurrency: 2 } },
      });
      // Each line may cost $0.006.
      const dear = (index: number, delay = 0) =>
        chat(index, { model: 'openai/gpt-4o-mini', max_tokens: 10_000, x_fake: { firstDelayMs: delay } });
      const refused = await create([dear(0), dear(1)], { client: poor }).catch((error) => error);
      expect([refused.status, refused.code]).toEqual([402, 'spend_cap_exceeded']);
      expect(refused.message).toMatch(/this batch, which may cost \$0\.012\d*: \$0(\.0+)? of \$0\.01\d* is spent/);
      expect((await poor.batches.list()).data).toEqual([]);

      const made = await create([dear(0, 500)], { client: poor });
      const ask = {
        model: 'openai/gpt-4o-mini',
        max_tokens: 10_000,
        messages: [{ role: 'user' as const, content: 'x' }],
      };
      expect(await poor.chat.completions.create(ask).catch(({ status }) => status)).toBe(402);
      expect(await ended(made.id, poor)).toMatchObject({ status: 'completed' });
      expect((await poor.chat.completions.create(ask)).choices.length).toBe(1);
      const ledger = await settledLedger(world.gateway);
      expect(ledger.projects.find((one) => one.project_id === poorId)?.diff_usd).toBe(0);
      expect(ledger.open_holds).toBe(0);
    },
    TEST_MS,
  );

  test(
    'a cancelled batch asks no further line, keeps what it has, and can be cancelled by an operator',
    async () => {
      const slow = Array.from({ length: 40 }, (_, index) => chat(index, { x_fake: { firstDelayMs: 300 } }));
      const made = await create(slow);
      while (world.upstream.control.counters.received === 0) await Bun.sleep(10);
      const cancelling = await callAdmin<{ status: string }>(world.gateway, `/batches/${made.id}/cancel`, {
        ...{ method: 'POST', body: {} },
      });
      expect(cancelling.status).toBe('cancelling');
      const batch = await ended(made.id);
      expect(batch.status).toBe('cancelled');
      const { completed = 0 } = batch.request_counts ?? {};
      expect(completed).toBe(world.upstream.control.counters.received);
      expect(completed).toBeGreaterThan(0);
      expect(completed).toBeLessThan(40);
      expect((await linesOf(batch.output_file_id)).length).toBe(completed);
      expect((await settledLedger(world.gateway)).open_holds).toBe(0);
      expect(await openai.batches.cancel(made.id).catch(({ status }) => status)).toBe(409);
    },
    TEST_MS,
  );

  test(
    'lines wait for the limits of their key, and no refusal becomes their answer',
    async () => {
      const { openai: limited } = await clientsOf({
        ...{ project: { cache_enabled: false }, key: { rate_limit_per_minute: 600, rate_limit_burst: 10 } },
      });
      const made = await create(
        Array.from({ length: 20 }, (_, index) => chat(index)),
        { client: limited },
      );
      expect((await ended(made.id, limited)).request_counts).toMatchObject({ total: 20, completed: 20, failed: 0 });
      expect(world.upstream.control.counters.received).toBe(20);
    },
    TEST_MS,
  );

  test(
    'message batches speak Anthropic’s format from creation to results',
    async () => {
      const request = (index: number, model = 'claude-haiku-4-5') => ({
        custom_id: `m-${index}`,
        params: { model, max_tokens: 20, messages: [{ role: 'user' as const, content: `hello ${index}` }] },
      });
      const made = await anthropic.messages.batches.create({ requests: [request(0), request(1, 'no-such-model')] });
      expect(made).toMatchObject({ type: 'message_batch', results_url: null });
      let batch = made;
      while (batch.processing_status !== 'ended') {
        await Bun.sleep(50);
        batch = await anthropic.messages.batches.retrieve(made.id);
      }
      expect(batch.request_counts).toEqual({ processing: 0, succeeded: 1, errored: 1, canceled: 0, expired: 0 });
      const results: [string, string][] = [];
      for await (const { custom_id: id, result } of await anthropic.messages.batches.results(made.id)) {
        results.push([id, result.type]);
        if (result.type === 'succeeded') expect(result.message.content[0]?.type).toBe('text');
        if (result.type === 'errored') expect(result.error.error.type).toBe('not_found_error');
      }
      expect(results).toEqual([
        ['m-0', 'succeeded'],
        ['m-1', 'errored'],
      ]);
      const second = await anthropic.messages.batches.create({ requests: [request(2)] });
      await anthropic.messages.batches.cancel(second.id);
      const ids = async (query: Anthropic.Messages.BatchListParams) =>
        (await anthropic.messages.batches.list(query)).data.map(({ id }) => id);
      expect(await ids({})).toEqual([second.id, made.id]);
      expect(await ids({ after_id: second.id })).toEqual([made.id]);
      expect(await ids({ before_id: made.id })).toEqual([second.id]);
      const { anthropic: stranger } = await clientsOf();
      expect(await stranger.messages.batches.retrieve(made.id).catch(({ status }) => status)).toBe(404);
      expect(await anthropic.messages.batches.delete(made.id)).toMatchObject({ type: 'message_batch_deleted' });
      expect(await anthropic.messages.batches.retrieve(made.id).catch(({ status }) => status)).toBe(404);
      const twice = anthropic.messages.batches.create({ requests: [request(0), request(0)] });
      expect(await twice.catch(({ status }) => status)).toBe(400);
    },
    TEST_MS,
  );
});
