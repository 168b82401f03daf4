import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import { startEnvironment, type TestEnvironment } from '../e2e/environment';
import { createScenarioKeys } from './create-scenario-keys';
import { installPythonOpenai } from './install-python-openai';
import { runPythonScenarios } from './run-python-scenarios';

const SETUP_MS = 180_000;

describe('the official SDK for Python', () => {
  let world: TestEnvironment;
  let results: Readonly<Record<string, JsonObject>>;
  beforeAll(async () => {
    const sdk = await installPythonOpenai();
    world = await startEnvironment({ kind: 'embedded' });
    const keys = await createScenarioKeys(world.gateway);
    results = await runPythonScenarios(sdk, 'openai_scenarios.py', {
      GATEWAY_URL: world.gateway.url,
      GATEWAY_KEYS: JSON.stringify(keys),
    });
  }, SETUP_MS);
  afterAll(() => world?.close(), SETUP_MS);

  const sent = (content: string) =>
    world.upstream.requests
      .map((request) => request.body)
      .find((body) => JSON.stringify(body.messages).includes(content));

  test('plain: temperature 0 and unknown fields arrive', () => {
    expect(results.plain).toEqual({
      text: 'Grüße 🌍',
      total: expect.any(Number),
      cost: expect.any(Number),
      same_id: true,
    });
    expect(sent('py plain')).toMatchObject({ temperature: 0, vendor_extra: { deep: [1, null] } });
  });

  test('stream: the text, a choice in each chunk, and usage once', () => {
    expect(results.stream).toEqual({ text: 'one two three', usages: [1] });
    expect(results.stream_with_usage).toEqual({ usages: [0] });
  });

  test('the stream helper ends with the text, the calls and the finish, each told once', () => {
    const calls = [['get_weather', '{"city":"Bern"}']];
    expect(results.stream_helper).toEqual({
      text: { text: 'one two', finish: 'stop', calls: [], done: ['content.done'] },
      tools: { text: null, finish: 'tool_calls', calls, done: ['tool_calls.function.arguments.done'] },
    });
  });

  test('text completions: plain, several prompts, streamed', () => {
    expect(results.completions).toEqual({ plain: 'one two', many: ['a!', 'b!'], stream: 'one two' });
  });

  test('tools, plain and streamed', () => {
    const call = '{"city":"Bern"}';
    expect(results.tools).toEqual({ finish: 'tool_calls', name: 'get_weather', plain: call, stream: call });
    expect(sent('py tools')?.tools).toHaveLength(1);
  });

  test('JSON schema', () => {
    expect(results.json_schema).toEqual({ age: 7 });
    expect(sent('py schema')?.response_format).toMatchObject({ json_schema: { name: 'person', strict: true } });
  });

  test('images', () => {
    expect(results.images).toEqual({ text: 'a pixel' });
    expect(JSON.stringify(sent('py image')?.messages)).toContain('"detail":"low"');
  });

  test('abort: the upstream is left', () => {
    expect(results.abort).toEqual({ left: true });
    expect(world.upstream.control.counters.cancelled).toBeGreaterThanOrEqual(1);
  });

  test('an error in the middle of a stream is raised', () => {
    expect(results.broken_stream).toEqual({ text: 'word word word ', code: 'upstream_error' });
  });

  test('models', () => {
    expect(results.models).toEqual({ listed: true, one: 'gpt-4o-mini' });
  });

  test.each([
    ['wrong_key', { class: 'AuthenticationError', status: 401, code: 'invalid_api_key' }],
    ['expired', { class: 'PermissionDeniedError', status: 403, code: 'key_expired' }],
    ['unknown_model', { class: 'NotFoundError', status: 404, code: 'model_not_found', param: 'model' }],
    ['no_messages', { class: 'BadRequestError', status: 400, code: 'invalid_request', param: 'messages' }],
    ['rejected', { class: 'UnprocessableEntityError', status: 422, code: 'upstream_rejected' }],
    ['limited', { class: 'RateLimitError', status: 429, code: 'rate_limit_exceeded', param: 'key' }],
    ['poor', { class: 'APIStatusError', status: 402, code: 'spend_cap_exceeded' }],
    ['failing', { class: 'InternalServerError', status: 502, code: 'upstream_error' }],
  ])('error class: %s', (name, expected) => {
    expect(results.errors?.[name]).toMatchObject(expected);
  });
});
