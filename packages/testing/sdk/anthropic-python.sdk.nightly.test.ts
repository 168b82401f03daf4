import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import { startEnvironment, type TestEnvironment } from '../e2e/environment';
import { createScenarioKeys } from './create-scenario-keys';
import { installPythonAnthropic } from './install-python-anthropic';
import { runPythonScenarios } from './run-python-scenarios';

const SETUP_MS = 180_000;
const MODELS = ['claude-haiku-4-5', 'gpt-5-mini', 'gemini-2.5-flash'];

describe('the official SDK for Python', () => {
  let world: TestEnvironment;
  let results: Readonly<Record<string, JsonObject>>;
  beforeAll(async () => {
    const sdk = await installPythonAnthropic();
    world = await startEnvironment({ kind: 'embedded', env: { FAILOVER_MODE: 'cloud_only' } });
    const keys = await createScenarioKeys(world.gateway);
    results = await runPythonScenarios(sdk, 'anthropic_scenarios.py', {
      GATEWAY_URL: world.gateway.url,
      UPSTREAM_URL: world.upstream.url,
      GATEWAY_KEYS: JSON.stringify(keys),
      GATEWAY_MODELS: JSON.stringify(MODELS),
    });
  }, SETUP_MS);
  afterAll(() => world?.close(), SETUP_MS);

  /** The same of every model, plain and streamed. */
  const ofAll = (view: unknown) => Object.fromEntries(MODELS.map((model) => [model, [view, view]]));

  test('words', () => {
    const view = { text: 'Grüße 🌍', thinking: '', calls: [], stop: 'end_turn', output: 3 };
    expect(results.words as unknown).toEqual(ofAll(view));
  });

  test('parallel tools, whose results are sent back', () => {
    const calls = ['Bern', 'Basel'].map((city) => ['get_weather', { city }]);
    const called = { text: '', thinking: '', calls, stop: 'tool_use', output: expect.any(Number) };
    expect(results.tools as unknown).toEqual(ofAll({ called, answer: 'Sunny.' }));
  });

  test('an image', () => {
    expect(results.image as unknown).toEqual(ofAll('a pixel'));
  });

  test('thinking', () => {
    const view = { text: '42', thinking: 'Hm.', calls: [], stop: 'end_turn', output: expect.any(Number) };
    expect(results.thinking as unknown).toEqual(ofAll(view));
  });

  test('abort: the upstream is left', () => {
    expect(results.abort).toEqual({ left: true });
    expect(world.upstream.control.counters.cancelled).toBeGreaterThanOrEqual(1);
  });

  test('an error in the middle of a stream is raised', () => {
    expect(results.broken).toMatchObject({ text: 'word word word ', body: { error: { code: 'upstream_error' } } });
  });

  test('counting', () => {
    const guess = { input_tokens: expect.any(Number), estimated: true };
    expect(results.count as unknown).toEqual({
      'claude-haiku-4-5': { input_tokens: 14 },
      'gpt-5-mini': guess,
      'gemini-2.5-flash': guess,
    });
  });

  test('models', () => {
    expect(results.models).toMatchObject({ listed: expect.arrayContaining(MODELS), one: 'model' });
  });

  test.each([
    ['wrong_key', { class: 'AuthenticationError', status: 401, type: 'authentication_error' }],
    ['expired', { class: 'PermissionDeniedError', status: 403, type: 'permission_error' }],
    ['unknown_model', { class: 'NotFoundError', status: 404, type: 'not_found_error' }],
    ['no_messages', { class: 'BadRequestError', status: 400, type: 'invalid_request_error' }],
    ['limited', { class: 'RateLimitError', status: 429, type: 'rate_limit_error' }],
    ['poor', { class: 'PaymentRequiredError', status: 402, type: 'billing_error' }],
    ['failing', { class: 'InternalServerError', status: 502, type: 'api_error' }],
  ])('error class: %s', (name, expected) => {
    expect(results.errors?.[name] as unknown).toEqual(expected);
  });
});
