import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import { startEnvironment, type TestEnvironment } from '../e2e/environment';
import { createTestKey } from '../stores/start-gateway';
import { installPythonOpenai } from './install-python-openai';
import { runPythonScenarios } from './run-python-scenarios';

const SETUP_MS = 180_000;
const MODELS = ['gpt-4o-mini', 'claude-haiku-4-5', 'gemini-2.5-flash'];

describe('the official SDK for Python over Responses', () => {
  let world: TestEnvironment;
  let results: Readonly<Record<string, JsonObject>>;
  beforeAll(async () => {
    const sdk = await installPythonOpenai();
    world = await startEnvironment({ kind: 'embedded' });
    const { apiKey } = await createTestKey(world.gateway, { project: { cache_enabled: false } });
    results = await runPythonScenarios(sdk, 'openai_responses_scenarios.py', {
      GATEWAY_URL: world.gateway.url,
      UPSTREAM_URL: world.upstream.url,
      GATEWAY_KEY: apiKey,
      GATEWAY_MODELS: JSON.stringify(MODELS),
    });
  }, SETUP_MS);
  afterAll(() => world?.close(), SETUP_MS);

  const SCENARIOS = {
    loop: [['Bern', 'Basel'], 'Sunny.', true],
    parsed: 7,
    kept: ['Grüße 🌍', { a: 'b' }, ['user'], 'not_found'],
    broken: ['word word word ', 'upstream_error'],
    refused: [400, 'unsupported_parameter', 'background'],
  };

  /** Plain and streamed alike. */
  test.each(Object.entries(SCENARIOS))('%s', (name, view) => {
    for (const model of MODELS) expect([model, results[model]?.[name]] as unknown).toEqual([model, [view, view]]);
  });
});
