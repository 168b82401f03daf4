import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { GoogleGenAI, type LiveServerMessage, Modality } from '@google/genai';
import type { JsonObject } from '@llm0/core/chat/json';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { type FakeRealtime, startFakeRealtime } from '../fake-upstream/start-fake-realtime';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import {
  allLogs,
  type LogRow,
  ON_ONE_KIND,
  settledLedger,
  startEnvironment,
  type TestEnvironment,
  waitUntil,
} from './environment';
import { SessionClient, startTlsFront } from './realtime-client';

const SETUP_MS = 60_000;
const MODEL = 'gpt-realtime-2';
/** Text 59 × $4, cached 60 × $0.4, speech 9 × $32 and cached 4 × $0.4; out 30 × $24 and 91 × $64, each a million. */
const TURN_USD = 0.0070936;

interface Row extends LogRow {
  readonly model: string;
  readonly dialect: string;
  readonly units: Record<string, number> | null;
}

describe.each(ON_ONE_KIND)('realtime sessions on %s stores', (kind) => {
  let world: TestEnvironment;
  let fake: FakeRealtime;
  let apiKey: string;
  let keyId: string;
  let projectId: string;
  beforeAll(async () => {
    fake = startFakeRealtime();
    world = await startEnvironment({
      kind,
      apart: false,
      env: {
        ...{ OPENAI_BASE_URL: `${fake.url}/v1`, GEMINI_API_KEY: 'gemini-fake-key', GEMINI_BASE_URL: fake.url },
        ...{ AZURE_OPENAI_API_KEY: 'azure-fake-key', AZURE_OPENAI_ENDPOINT: fake.url },
      },
    });
    const prices: readonly [string, string, JsonObject][] = [
      ['openai', 'gpt-live', { mode: 'realtime', session_second_usd: 0.001 }],
      ['openai', 'gpt-realtime-unpriced', { mode: 'realtime', image_usd: 1 }],
      ['openai', 'gpt-realtime-unbounded', USUAL],
      ['openai', 'gpt-realtime-bounded', { ...USUAL, context_window: 32_000, max_output_tokens: 4096 }],
      ['azure', 'my-realtime', USUAL],
      ['gemini', 'gemini-live', USUAL],
    ];
    for (const [provider, model, body] of prices) {
      await callAdmin(world.gateway, `/models?provider=${provider}&model=${model}`, { method: 'PUT', body });
    }
  }, SETUP_MS);
  beforeEach(async () => {
    fake.reset();
    ({ apiKey, keyId, projectId } = await createTestKey(world.gateway));
  });
  afterAll(async () => {
    await world.close();
    await fake.stop();
  }, SETUP_MS);

  const urlOf = (path: string) => `${world.gateway.url}${path}`;
  const open = (path = `/v1/realtime?model=${MODEL}`, headers: Record<string, string> = {}) =>
    SessionClient.open(urlOf(path), { authorization: `Bearer ${apiKey}`, ...headers });
  const key = (body: Record<string, unknown>) =>
    callAdmin(world.gateway, `/projects/${projectId}/keys/${keyId}`, { method: 'PATCH', body });
  const project = (body: Record<string, unknown>) =>
    callAdmin(world.gateway, `/projects/${projectId}`, { method: 'PATCH', body });
  /** Waits for so many rows, oldest first. */
  const rows = async (count: number): Promise<Row[]> => {
    let found: Row[] = [];
    for (let i = 0; i < 500 && found.length < count; i++) {
      if (i > 0) await Bun.sleep(20);
      found = (await allLogs(world.gateway, `project_id=${projectId}`)) as Row[];
    }
    expect(found).toHaveLength(count);
    return found.reverse();
  };
  /** A handshake that is refused. */
  const refusal = async (path: string, headers: Record<string, string> = { authorization: `Bearer ${apiKey}` }) => {
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
    const response = await fetch(urlOf(path), {
      headers: { ...upgrade, 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', ...headers },
    });
    const body = (await response.json()) as { error: { code: string; param: string | null } };
    return { status: response.status, code: body.error.code, param: body.error.param };
  };
  const ledgerIsEven = async () => {
    const ledger = await settledLedger(world.gateway, 10_000);
    expect(ledger).toMatchObject({ ok: true, queue_depth: 0, open_holds: 0 });
    return ledger.projects.find((one) => one.project_id === projectId)?.counter_usd ?? 0;
  };

  test("the official client's turn has a row of its own, and so has its session", async () => {
    const tls = await startTlsFront(world.gateway.url);
    const client = new OpenAI({ apiKey, baseURL: `${tls.url}/v1` });
    const session = new OpenAIRealtimeWS({ model: MODEL, options: { rejectUnauthorized: false } }, client);
    const done = Promise.withResolvers<JsonObject>();
    let deltas = 0;
    session.on('response.output_audio.delta', () => {
      deltas += 1;
    });
    session.on('error', done.reject);
    session.on('response.done', (event) => done.resolve(event as unknown as JsonObject));
    session.on('session.created', () => {
      const content = [{ type: 'input_text' as const, text: 'Say hello.' }];
      session.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
      session.send({ type: 'response.create' });
    });
    expect(await done.promise).toMatchObject({ response: { status: 'completed' } });
    expect(deltas).toBe(3);
    session.close();
    await tls.stop();
    const found = await rows(2);
    const [turn, whole] = [
      found.find(({ tokens_in }) => tokens_in > 0),
      found.find(({ tokens_in }) => tokens_in === 0),
    ];
    expect(turn).toMatchObject({
      model: MODEL,
      modality: 'realtime',
      status: 'success',
      tokens_in: 132,
      tokens_out: 121,
    });
    expect(turn?.cost_usd).toBeCloseTo(TURN_USD, 9);
    expect(whole).toMatchObject({ modality: 'realtime', status: 'success', cost_usd: 0, trace_id: turn?.trace_id });
    expect(whole?.units?.session_seconds).toBeGreaterThan(0);
    expect(await ledgerIsEven()).toBeCloseTo(TURN_USD, 9);
    expect(fake.sessions[0]?.headers.authorization).not.toContain(apiKey);
  });

  test('speech is written down at the price of its own model', async () => {
    const client = await open();
    const transcription = { model: 'gpt-realtime-whisper' };
    client.send({ type: 'session.update', session: { audio: { input: { transcription } } } });
    await client.next('session.updated');
    client.send({ type: 'input_audio_buffer.append', audio: 'A'.repeat(64_000) });
    client.send({ type: 'input_audio_buffer.commit' });
    await client.next('conversation.item.input_audio_transcription.completed');
    client.socket.close();
    const heard = (await rows(2)).find(({ model }) => model === 'gpt-realtime-whisper');
    // 3 seconds of $0.017 a minute.
    expect(heard).toMatchObject({ status: 'success', cost_usd: 0.00085, units: { seconds: 3 } });
    await ledgerIsEven();
  });

  test('speech that the vendor writes down unasked costs as its dearest model, as an estimate', async () => {
    fake.behaviour.hearsAlone = true;
    const client = await open();
    client.send({ type: 'input_audio_buffer.append', audio: 'A'.repeat(64_000) });
    for (let nth = 1; nth <= 2; nth++) {
      client.send({ type: 'input_audio_buffer.commit' });
      await client.next('conversation.item.input_audio_transcription.completed', nth);
    }
    client.socket.close();
    const [first, second] = (await rows(3)).filter(({ cost_usd }) => cost_usd > 0);
    // 3 seconds of $0.017 a minute; from the second piece on, they are held.
    expect(first).toMatchObject({ cost_usd: 0.00085, cost_estimated: true, units: { seconds: 3 } });
    expect(second).toMatchObject({ cost_usd: 0.00085 });
    expect(await ledgerIsEven()).toBeCloseTo(0.0017, 9);
  });

  test('speech that the vendor began to write down unasked is booked, although the session ends before the transcript', async () => {
    Object.assign(fake.behaviour, { hearsAlone: true, hearsOn: true });
    const client = await open();
    client.send({ type: 'input_audio_buffer.append', audio: 'A'.repeat(640_000) });
    client.send({ type: 'input_audio_buffer.commit' });
    await client.next('conversation.item.input_audio_transcription.delta');
    client.leave();
    const heard = (await rows(2)).find(({ cost_usd }) => cost_usd > 0);
    // 10 seconds, by the dearest of the vendor's models: 32 tokens of speech a second at $6, and 10 of text at $10.
    expect(heard).toMatchObject({ cost_estimated: true, tokens_in: 321, tokens_out: 101 });
    expect(await ledgerIsEven()).toBeCloseTo(0.002936, 9);
  });

  test('speech whose hold was refused is billed, told or not', async () => {
    const transcription = { model: 'gpt-realtime-whisper' };
    const speak = async () => {
      const client = await open();
      client.send({ type: 'session.update', session: { audio: { input: { transcription } } } });
      await client.next('session.updated');
      client.send({ type: 'input_audio_buffer.append', audio: 'A'.repeat(640_000) });
      client.send({ type: 'input_audio_buffer.commit' });
      return client;
    };
    await key({ rate_limit_per_minute: 1 });
    const limited = await speak();
    await limited.next('conversation.item.input_audio_transcription.completed');
    expect(limited.count('error')).toBe(1);
    limited.leave();
    expect(await ledgerIsEven()).toBeCloseTo(0.00085, 9);
    await key({ rate_limit_per_minute: null });
    await project({ monthly_cap_usd: 0.001 });
    const broke = await speak();
    expect(await broke.ended).toMatchObject({ code: 1008 });
    // Ten seconds of speech that nobody tells of.
    expect(await ledgerIsEven()).toBeCloseTo(0.00085 + 0.002833522, 6);
  });

  test('usage in a unit without a price is no free speech', async () => {
    fake.behaviour.heardUsage = { type: 'tokens', input_tokens: 20, output_tokens: 5 };
    const client = await open();
    const transcription = { model: 'gpt-realtime-whisper' };
    client.send({ type: 'session.update', session: { audio: { input: { transcription } } } });
    client.send({ type: 'input_audio_buffer.append', audio: 'A'.repeat(64_000) });
    client.send({ type: 'input_audio_buffer.commit' });
    await client.next('conversation.item.input_audio_transcription.completed');
    client.leave();
    const heard = (await rows(2)).find(({ model }) => model === 'gpt-realtime-whisper');
    expect(heard).toMatchObject({ cost_estimated: true });
    expect(heard?.cost_usd).toBeGreaterThan(0.00028);
    await ledgerIsEven();
  });

  test('strict caps hold speech before it goes on, and end a session whose vendor writes it down unasked', async () => {
    const path = '/v1/realtime?intent=transcription&model=gpt-realtime-whisper';
    await project({ strict_caps: true, monthly_cap_usd: 0.01 });
    const poor = await open(path);
    poor.send({ type: 'input_audio_buffer.append', audio: 'AAAA' });
    expect(await poor.ended).toMatchObject({ code: 1008 });
    expect(fake.sessions[0]?.received).not.toContain('input_audio_buffer.append');
    await project({ monthly_cap_usd: 50 });
    fake.behaviour.hearsAlone = true;
    const held = await open(path);
    held.send({ type: 'input_audio_buffer.append', audio: 'AAAA' });
    held.send({ type: 'input_audio_buffer.commit' });
    await held.next('conversation.item.input_audio_transcription.completed');
    held.leave();
    expect(await ledgerIsEven()).toBeCloseTo(0.00085, 9);
    const unasked = await open('/v1/realtime?model=gpt-realtime-bounded');
    unasked.send({ type: 'input_audio_buffer.commit' });
    expect(await unasked.next('error')).toMatchObject({
      error: { code: 'request_over_limit', param: 'session.audio.input.transcription' },
    });
    expect(await unasked.ended).toMatchObject({ code: 1008 });
    expect(await ledgerIsEven()).toBeCloseTo(0.0017, 9);
  });

  test('a vendor that answers by itself is held and billed as well', async () => {
    fake.behaviour.answersAlone = true;
    const client = await open();
    client.send({ type: 'input_audio_buffer.commit' });
    await client.next('response.done');
    client.socket.close();
    expect((await rows(2)).some(({ cost_usd }) => Math.abs(cost_usd - TURN_USD) < 1e-9)).toBe(true);
    await ledgerIsEven();
  });

  test('an answer that its caller leaves is booked as an estimate', async () => {
    Object.assign(fake.behaviour, { deltas: 20, deltaLength: 6400, hangs: true });
    const client = await open();
    client.send({
      type: 'conversation.item.create',
      item: { content: [{ type: 'input_text', text: 'x'.repeat(900) }] },
    });
    client.send({ type: 'response.create' });
    await waitUntil(() => client.count('response.output_audio.delta') === 20);
    client.leave();
    const turn = (await rows(2)).find(({ tokens_out }) => tokens_out > 0);
    expect(turn).toMatchObject({ status: 'aborted', error_code: 'client_closed', cost_estimated: true });
    // Two seconds of speech at 20 tokens each, and the text that it answers.
    expect(turn?.tokens_out).toBeGreaterThanOrEqual(40);
    expect(turn?.tokens_in).toBeGreaterThanOrEqual(300);
    await waitUntil(() => fake.sessions[0]?.isClosed === true);
    expect(await ledgerIsEven()).toBeGreaterThan(0);
  });

  test('a vendor that drops a session ends it, and what was open is booked', async () => {
    Object.assign(fake.behaviour, { hangs: true });
    const client = await open();
    client.send({ type: 'response.create' });
    await client.next('response.created');
    fake.drop();
    expect(await client.ended).toMatchObject({ code: 1011 });
    expect(client.events.at(-1)).toMatchObject({ type: 'error', error: { code: 'upstream_error' } });
    for (const row of await rows(2)) expect(row).toMatchObject({ status: 'error', error_code: 'upstream_error' });
    await ledgerIsEven();
  });

  test('a revoked key, and a closed project, end their sessions in the middle of an answer', async () => {
    Object.assign(fake.behaviour, { deltas: 1000, gapMs: 10 });
    for (const revoke of [() => key({ is_active: false }), () => project({ is_active: false })]) {
      const client = await open();
      client.send({ type: 'response.create' });
      await client.next('response.output_audio.delta');
      await revoke();
      const sinceMs = performance.now();
      const { code, atMs } = await client.ended;
      expect(code).toBe(1008);
      // Its answer takes ten seconds; a measuring suite asserts one.
      expect(atMs - sinceMs).toBeLessThan(5000);
      await key({ is_active: true });
    }
    await project({ is_active: true });
    await ledgerIsEven();
  });

  test('without budget an answer is refused before it begins, and the session ends', async () => {
    const client = await open();
    client.send({ type: 'response.create' });
    await client.next('response.done');
    await project({ monthly_cap_usd: 0.008 });
    client.send({ type: 'response.create', event_id: 'mine' });
    expect(await client.next('error')).toMatchObject({ error: { code: 'spend_cap_exceeded', event_id: null } });
    expect(await client.ended).toMatchObject({ code: 1008 });
    expect(fake.told.answers).toBe(1);
    const found = await rows(3);
    expect(found.filter(({ error_code }) => error_code === 'spend_cap_exceeded')).toHaveLength(2);
    expect(await ledgerIsEven()).toBeCloseTo(TURN_USD, 9);
  });

  test('an answer that begins without budget is stopped, and what it cost is booked', async () => {
    Object.assign(fake.behaviour, { answersAlone: true, deltas: 500, gapMs: 10 });
    await key({ rate_limit_per_minute: 1 });
    const client = await open();
    client.send({ type: 'input_audio_buffer.commit' });
    expect(await client.next('error')).toMatchObject({ error: { code: 'rate_limit_exceeded', param: 'key' } });
    await waitUntil(() => fake.sessions[0]?.received.includes('response.cancel') === true);
    await Bun.sleep(100);
    expect(client.count('response.created') + client.count('response.output_audio.delta')).toBe(0);
    expect(client.isClosed).toBe(false);
    client.leave();
    expect(await ledgerIsEven()).toBeCloseTo(TURN_USD, 9);
  });

  test('a frame that the vendor refuses gives its hold back', async () => {
    fake.behaviour.refuses = true;
    const client = await open();
    client.send({ type: 'response.create', event_id: 'mine' });
    expect(await client.next('error')).toMatchObject({ error: { event_id: 'mine' } });
    const [turn] = await rows(1);
    expect(turn).toMatchObject({ status: 'error', error_code: 'upstream_rejected', cost_usd: 0, tokens_in: 0 });
    fake.behaviour.refuses = false;
    client.send({ type: 'response.create' });
    await client.next('response.done');
    client.leave();
    expect(await ledgerIsEven()).toBeCloseTo(TURN_USD, 9);
  });

  test('what may not be opened is refused by name', async () => {
    expect(
      await refusal(`/v1/realtime?model=${MODEL}`, { authorization: `Bearer llm0_live_${'0'.repeat(64)}` }),
    ).toMatchObject({
      ...{ status: 401, code: 'invalid_api_key' },
    });
    expect(await refusal(`/v1/realtime?model=${MODEL}`, {})).toMatchObject({ status: 401, code: 'missing_api_key' });
    // A model of another kind has no stand-in that nobody notices.
    expect(await refusal('/v1/realtime?model=gpt-4o-mini')).toMatchObject({ status: 400, code: 'model_not_priced' });
    expect(await refusal('/v1/realtime?model=claude-haiku-4-5')).toMatchObject({
      status: 400,
      code: 'invalid_request',
    });
    expect(await refusal('/v1/realtime?model=no-such-model')).toMatchObject({ status: 404, code: 'model_not_found' });
    expect(await refusal('/v1/realtime')).toEqual({ status: 400, code: 'invalid_request', param: 'model' });
    expect(await refusal('/v1/realtime?model=gpt-realtime-unpriced')).toMatchObject({
      ...{ status: 400, code: 'model_not_priced', param: 'model' },
    });
    await key({ allowed_models: ['gpt-4o-mini'] });
    expect(await refusal(`/v1/realtime?model=${MODEL}`)).toMatchObject({ status: 403, code: 'model_not_allowed' });
    await key({ allowed_models: null });
    fake.behaviour.refuseWith = 401;
    expect(await refusal(`/v1/realtime?model=${MODEL}`)).toMatchObject({ status: 502, code: 'upstream_error' });
    fake.behaviour.refuseWith = undefined;
    const rule = { name: 'no mail', on: 'both', check: { type: 'pii', kinds: ['email'] }, action: 'block' };
    const path = `/projects/${projectId}/guardrails`;
    await callAdmin(world.gateway, path, { method: 'PUT', body: { mode: 'enforce', rules: [rule] } });
    expect(await refusal(`/v1/realtime?model=${MODEL}`)).toMatchObject({
      ...{ status: 400, code: 'guardrail_blocked', param: 'no mail' },
    });
    await callAdmin(world.gateway, path, { method: 'PUT', body: { mode: 'off', rules: [] } });
    await project({ is_active: false });
    expect(await refusal(`/v1/realtime?model=${MODEL}`)).toMatchObject({ status: 403, code: 'project_inactive' });
    expect(fake.sessions).toHaveLength(0);
    expect(await ledgerIsEven()).toBe(0);
  });

  test('an idle session is no open hold', async () => {
    const client = await open();
    expect(await ledgerIsEven()).toBe(0);
    expect(client.isClosed).toBe(false);
    client.leave();
    await rows(1);
  });

  test('a session takes one place of its key, and answers in it none', async () => {
    await key({ max_concurrency: 1 });
    const client = await open();
    expect(await refusal(`/v1/realtime?model=${MODEL}`)).toMatchObject({ status: 429, param: 'concurrency' });
    await key({ max_concurrency: 2 });
    Object.assign(fake.behaviour, { deltas: 0, hangs: true });
    client.send({ type: 'response.create' });
    await client.next('response.created');
    const second = await open();
    expect(await refusal(`/v1/realtime?model=${MODEL}`)).toMatchObject({ status: 429, param: 'concurrency' });
    for (const one of [client, second]) one.leave();
    await ledgerIsEven();
    (await open()).leave();
  });

  test('models of a session are those of its key: others are refused, and the session goes on', async () => {
    const client = await open();
    const update = (session: JsonObject) => client.send({ type: 'session.update', session });
    update({ audio: { input: { transcription: { model: 'whisper-without-price' } } } });
    expect(await client.next('error')).toMatchObject({ error: { code: 'model_not_priced' } });
    expect(await client.ended).toMatchObject({ code: 1008 });
    const other = await open();
    other.send({ type: 'session.update', session: { model: 'gpt-4o' } });
    expect(await other.next('error')).toMatchObject({ error: { code: 'invalid_request', param: 'session.model' } });
    other.send({ type: 'session.update', session: { model: MODEL } });
    await other.next('session.updated');
    other.leave();
    await ledgerIsEven();
  });

  test('under strict caps nothing without a bound begins', async () => {
    await project({ strict_caps: true, monthly_cap_usd: 50 });
    const unbounded = { status: 400, code: 'request_over_limit', param: 'model' };
    expect(await refusal('/v1/realtime?model=gpt-realtime-unbounded')).toMatchObject(unbounded);
    expect(fake.sessions).toHaveLength(0);
    const bounded = await open('/v1/realtime?model=gpt-realtime-bounded');
    const tools = [{ type: 'mcp', server_label: 'x', server_url: 'https://example.com' }];
    bounded.send({ type: 'session.update', session: { tools } });
    expect(await bounded.next('error')).toMatchObject({ error: { code: 'request_over_limit', param: 'tools' } });
    bounded.send({ type: 'response.create' });
    await bounded.next('response.done');
    // What answers by itself has its hold before the speech goes on: more than is left.
    fake.behaviour.answersAlone = true;
    await project({ monthly_cap_usd: 0.5 });
    bounded.send({ type: 'input_audio_buffer.append', audio: 'AAAA' });
    expect(await bounded.next('error', 2)).toMatchObject({ error: { code: 'spend_cap_exceeded' } });
    expect(await bounded.ended).toMatchObject({ code: 1008 });
    expect(fake.sessions[0]?.received).not.toContain('input_audio_buffer.append');
    expect(await ledgerIsEven()).toBeCloseTo(TURN_USD, 9);
  });

  test('a secret of the gateway opens sessions of its key, with its settings and its customer', async () => {
    const create = (body: JsonObject) =>
      fetch(urlOf('/v1/realtime/client_secrets'), {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', 'x-customer-id': 'ann' },
        body: JSON.stringify(body),
      });
    const session = { type: 'realtime', model: MODEL, instructions: 'Be brief.' };
    for (const seconds of [9, 7201, 'x']) {
      const refused = await create({ expires_after: { anchor: 'created_at', seconds }, session });
      expect(refused.status).toBe(400);
      expect(await refused.json()).toMatchObject({ error: { param: 'expires_after.seconds' } });
    }
    const official = new OpenAI({ apiKey, baseURL: urlOf('/v1'), defaultHeaders: { 'x-customer-id': 'ann' } });
    const {
      value,
      expires_at,
      session: shown,
    } = await official.realtime.clientSecrets.create({
      expires_after: { anchor: 'created_at', seconds: 60 },
      session: { ...session, type: 'realtime' },
    });
    expect(shown).toMatchObject(session);
    expect(expires_at - Date.now() / 1000).toBeLessThan(62);
    for (let i = 0; i < 2; i++) {
      const protocols = ['realtime', `openai-insecure-api-key.${value}`];
      const client = await SessionClient.open(urlOf(`/v1/realtime?model=${MODEL}`), {}, protocols);
      expect(client.socket.protocol).toBe('realtime');
      expect(await client.next('session.updated')).toMatchObject({ session: { instructions: 'Be brief.' } });
      client.send({ type: 'response.create' });
      await client.next('response.done');
      client.socket.close();
    }
    await ledgerIsEven();
    const turns = (await allLogs(world.gateway, `project_id=${projectId}&customer_id=ann`)).filter(
      (row) => row.cost_usd > 0,
    );
    expect(turns).toHaveLength(2);
    expect(JSON.stringify(fake.sessions.map(({ headers }) => headers))).not.toContain(value);
    await key({ is_active: false });
    expect(await refusal('/v1/realtime', { authorization: `Bearer ${value}` })).toMatchObject({ status: 401 });
    const unknown = { authorization: `Bearer ek_llm0_${'0'.repeat(64)}` };
    expect(await refusal('/v1/realtime', unknown)).toMatchObject({ status: 401, code: 'invalid_api_key' });
  });

  test('a secret of translations opens those alone', async () => {
    const model = 'gpt-realtime-translate';
    const path = `/v1/realtime/translations?model=${model}`;
    const official = new OpenAI({ apiKey, baseURL: urlOf('/v1') });
    const audio = { output: { language: 'es' } };
    const secret = await official.realtime.translations.clientSecrets.create({ session: { model, audio } });
    expect(secret.session).toMatchObject({ type: 'translation', model, audio });
    const client = await SessionClient.open(urlOf(path), { authorization: `Bearer ${secret.value}` });
    expect(await client.next('session.updated')).toMatchObject({ session: { audio } });
    client.send({ type: 'session.input_audio_buffer.append', audio: 'A'.repeat(64_000) });
    client.send({ type: 'session.close' });
    await client.ended;
    expect(fake.sessions.at(-1)?.headers.authorization).not.toContain(secret.value);
    // A second of $0.034 a minute.
    expect(await ledgerIsEven()).toBeCloseTo(0.000566667, 9);
    const bearer = { authorization: `Bearer ${secret.value}` };
    expect(await refusal('/v1/realtime', bearer)).toMatchObject({ status: 400 });
    const other = official.realtime.translations.clientSecrets.create({ session: { model: MODEL } });
    expect(((await other.catch((error) => error)) as { status: number }).status).toBe(400);
    await project({ strict_caps: true, monthly_cap_usd: 5 });
    const strict = await open(path);
    const input = { transcription: { model: 'gpt-realtime-whisper' } };
    strict.send({ type: 'session.update', session: { audio: { input } } });
    expect(await strict.next('error')).toMatchObject({ error: { code: 'request_over_limit' } });
    strict.leave();
    await ledgerIsEven();
  });

  test('a live session is billed by its seconds, which are told as a sum', async () => {
    const client = await open('/v1/live/sessions?model=gpt-live');
    for (const seconds of [10, 20, 30])
      fake.send(JSON.stringify({ type: 'session.usage.updated', usage: { seconds } }));
    await waitUntil(() => client.count('session.usage.updated') === 3);
    client.send({ type: 'session.close' });
    await client.ended;
    const stretch = (await rows(2)).find(({ cost_usd }) => cost_usd > 0);
    expect(stretch).toMatchObject({ dialect: 'openai-live', cost_usd: 0.0425, units: { session_seconds: 42.5 } });
    expect(stretch?.cost_estimated).toBe(false);
    await ledgerIsEven();
    await project({ monthly_cap_usd: 0.05 });
    expect(await refusal('/v1/live/sessions?model=gpt-live')).toMatchObject({
      status: 402,
      code: 'spend_cap_exceeded',
    });
    await ledgerIsEven();
  });

  test('a translation is billed by the speech that was sent, and goes on as long as the budget lasts', async () => {
    const path = '/v1/realtime/translations?model=gpt-realtime-translate';
    const seconds = (count: number) => ({
      type: 'session.input_audio_buffer.append',
      audio: 'A'.repeat(64_000 * count),
    });
    const client = await open(path);
    client.send(seconds(2));
    client.send({ audio: 'A'.repeat(32_000), type: 'session.input_audio_buffer.append' });
    client.send({ type: 'session.close' });
    await client.ended;
    expect(fake.sessions.at(-1)?.url).toContain('/v1/realtime/translations?model=gpt-realtime-translate');
    const part = (await rows(2)).find(({ cost_usd }) => cost_usd > 0);
    // 2.5 seconds at $0.034 a minute.
    expect(part).toMatchObject({ units: { seconds: 2.5 }, cost_usd: 0.001416667, cost_estimated: false });
    await ledgerIsEven();
    await project({ monthly_cap_usd: 0.036 });
    const long = await open(path);
    long.send(seconds(59));
    expect((await long.ended).code).toBe(1008);
    await ledgerIsEven();
    expect(await refusal(path)).toMatchObject({ status: 402, code: 'spend_cap_exceeded' });

    expect((await refusal(path.replace('translate', '2'))).status).toBeGreaterThanOrEqual(400);
  });

  test('the transcript of a translation is booked as an estimate, while it is on', async () => {
    const client = await open('/v1/realtime/translations?model=gpt-realtime-translate');
    const speak = (seconds: number) =>
      client.send({ type: 'session.input_audio_buffer.append', audio: 'A'.repeat(64_000 * seconds) });
    const set = (transcription: JsonObject | null) =>
      client.send({ type: 'session.update', session: { audio: { input: { transcription } } } });
    speak(1);
    set({ model: 'gpt-realtime-whisper' });
    speak(4);
    await client.next('session.updated');
    speak(6);
    set(null);
    await client.next('session.updated', 2);
    speak(1);
    client.send({ type: 'session.close' });
    await client.ended;
    const parts = (await rows(3)).filter(({ cost_usd }) => cost_usd > 0);
    const of = (model: string) => parts.find((row) => row.model === model);
    expect(of('gpt-realtime-whisper')).toMatchObject({
      ...{ units: { seconds: 10 }, cost_usd: 0.002833333, cost_estimated: true, status: 'success' },
    });
    expect(of('gpt-realtime-translate')).toMatchObject({ units: { seconds: 12 }, cost_estimated: false });
    await ledgerIsEven();
  });

  test('a transcript whose model nobody names costs what the dearest one would, and strict caps refuse it', async () => {
    const path = '/v1/realtime/translations?model=gpt-realtime-translate';
    const update = { type: 'session.update', session: { audio: { input: { transcription: {} } } } };
    const client = await open(path);
    client.send(update);
    await client.next('session.updated');
    client.send({ type: 'session.input_audio_buffer.append', audio: 'A'.repeat(64_000 * 10) });
    client.send({ type: 'session.close' });
    await client.ended;
    const heard = (await rows(3)).find(({ model, cost_usd }) => cost_usd > 0 && model !== 'gpt-realtime-translate');
    expect(heard).toMatchObject({ cost_estimated: true, status: 'success' });
    // 320 tokens of speech and 100 of text, above $0.017 a minute.
    expect(heard).toMatchObject({ model: 'gpt-4o-transcribe', cost_usd: 0.00292 });
    await ledgerIsEven();
    await project({ strict_caps: true, monthly_cap_usd: 5 });
    const strict = await open(path);
    strict.send(update);
    expect(await strict.next('error')).toMatchObject({ error: { code: 'request_over_limit' } });
    strict.leave();
    await ledgerIsEven();
  });

  test('a shutdown ends an idle session at once, another one after its answer', async () => {
    const idle = await open();
    Object.assign(fake.behaviour, { deltas: 10, gapMs: 50 });
    const busy = await open();
    busy.send({ type: 'response.create' });
    await busy.next('response.output_audio.delta');
    const restarted = world.restart('stop');
    expect(await idle.ended).toMatchObject({ code: 1001 });
    expect(busy.isClosed).toBe(false);
    expect(await busy.ended).toMatchObject({ code: 1001 });
    expect(busy.count('response.done')).toBe(1);
    await restarted;
    expect(await ledgerIsEven()).toBeCloseTo(TURN_USD, 9);
  });

  test('sessions of other vendors: Azure by its own path, Gemini in its own protocol', async () => {
    const azure = await open('/v1/realtime?model=azure/my-realtime');
    azure.send({ type: 'response.create' });
    await azure.next('response.done');
    azure.leave();
    expect(fake.sessions[0]?.url).toBe('/openai/v1/realtime?model=my-realtime');
    expect(fake.sessions[0]?.headers['api-key']).toBe('azure-fake-key');
    const path = '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent';
    const messages: LiveServerMessage[] = [];
    const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: world.gateway.url } });
    const gemini = await client.live.connect({
      model: 'gemini-live',
      config: { responseModalities: [Modality.AUDIO] },
      callbacks: { onmessage: (message) => messages.push(message) },
    });
    gemini.sendClientContent({ turns: 'hi', turnComplete: true });
    await waitUntil(() => messages.some(({ usageMetadata }) => usageMetadata !== undefined));
    gemini.close();
    const turn = (await rows(4)).find(({ dialect, cost_usd }) => dialect === 'gemini-live' && cost_usd > 0);
    // Text 80 × $4, speech 20 × $32 in and 50 × $64 out.
    expect(turn).toMatchObject({ model: 'gemini-live', tokens_in: 100, tokens_out: 50, cost_usd: 0.00416 });
    expect(fake.sessions[1]?.headers['x-goog-api-key']).toBe('gemini-fake-key');
    expect(fake.sessions[1]?.url).toBe(path);
    const refused = await SessionClient.open(urlOf(`${path}?key=${apiKey}`), {});
    refused.send({ setup: { model: 'models/no-such-model' } });
    expect(await refused.ended).toMatchObject({ code: 1008, reason: expect.stringMatching(/^model_not_found: /) });
    const nameless = await SessionClient.open(urlOf(`${path}?key=${apiKey}`), {});
    nameless.send({ clientContent: { turnComplete: true } });
    const setup = 'invalid_request: The first message must be a "setup" that names its "model".';
    expect(await nameless.ended).toMatchObject({ code: 1008, reason: setup });
    const cached = await SessionClient.open(urlOf(`${path}?key=${apiKey}`), {});
    cached.send({ setup: { model: 'models/gemini-live', cachedContent: 'cachedContents/abc' } });
    expect(await cached.ended).toMatchObject({ code: 1008 });
    expect(fake.sessions.at(-1)?.received ?? []).not.toContain('setup');
    const rules = [{ name: 'no mail', on: 'both', check: { type: 'pii' }, action: 'block' }];
    const guardrails = `/projects/${projectId}/guardrails`;
    await callAdmin(world.gateway, guardrails, { method: 'PUT', body: { mode: 'enforce', rules } });
    const guarded = await SessionClient.open(urlOf(`${path}?key=${apiKey}`), {});
    guarded.send({ setup: { model: 'models/gemini-live' } });
    expect(await guarded.ended).toMatchObject({ code: 1008, reason: expect.stringMatching(/^guardrail_blocked: /) });
    await ledgerIsEven();
  });
});

const USUAL = {
  mode: 'realtime',
  ...{ input_usd_per_million: 4, cache_read_usd_per_million: 0.4, output_usd_per_million: 24 },
  ...{ input_audio_usd_per_million: 32, cache_read_audio_usd_per_million: 0.4, output_audio_usd_per_million: 64 },
};
