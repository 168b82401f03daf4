import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startEnvironment, type TestEnvironment } from '../e2e/environment';
import { HEARD } from '../fake-upstream/render-tasks';
import { createTestKey } from '../stores/start-gateway';
import { installPythonOpenai } from './install-python-openai';
import { runPythonScenarios } from './run-python-scenarios';

const SETUP_MS = 180_000;

describe('the official SDK for Python with pictures and sound', () => {
  let world: TestEnvironment;
  let results: Readonly<Record<string, unknown>>;
  beforeAll(async () => {
    const sdk = await installPythonOpenai();
    world = await startEnvironment({ kind: 'embedded' });
    const { apiKey } = await createTestKey(world.gateway);
    results = await runPythonScenarios(sdk, 'openai_media_scenarios.py', {
      GATEWAY_URL: world.gateway.url,
      GATEWAY_KEY: apiKey,
    });
  }, SETUP_MS);
  afterAll(() => world?.close(), SETUP_MS);

  test.each([
    ['pictures', [2, 100, ['partial_image', 'partial_image', 'completed']]],
    ['edits', [1, true]],
    ['heard', [HEARD, HEARD, 'transcript.text.done']],
    ['spoken', ['audio/mpeg', true]],
    ['judged', [false, true]],
    [
      'refused',
      [
        [400, 'invalid_request', 'n'],
        [400, 'invalid_request', 'file'],
        [400, 'model_not_priced', 'model'],
      ],
    ],
  ])('%s', (name, view) => expect(results[name]).toEqual(view));
});
