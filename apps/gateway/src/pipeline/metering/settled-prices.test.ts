import { afterEach, expect, test } from 'bun:test';
import { createPriceBook } from '@llm0/core/pricing/price-book';
import { createRoutingTables } from '@llm0/core/routing/routing-tables';
import { openaiChat } from '../../dialects/openai-chat/index';
import { handleChat } from '../chat/handle-chat';
import { MODEL, openPipeline, type Pipeline, SECRET, says, streams } from '../open-pipeline.fixture';
import { type Envelopes, providerEntrance } from '../passthrough/entrances';
import { handlePassthrough } from '../passthrough/handle-passthrough';

const entrance = providerEntrance({ 'openai-chat': openaiChat } as unknown as Envelopes);
const streamed = () => {
  const stream = streams();
  stream.send('two');
  stream.finish();
  return stream.script;
};

let pipeline: Pipeline;
afterEach(() => pipeline?.close());

/** The operator sets other prices while the vendor answers, also for the model that the vendor names. */
function editPrices(): void {
  const tables = pipeline.services.routing();
  const dear = tables.prices.list().map((one) => ({ ...one, prices: { input: 9e9, output: 9e9 }, source: 'operator' }));
  const edited = createRoutingTables({ ...tables, forProject: undefined, prices: createPriceBook(dear, new Set()) });
  Object.assign(pipeline.services, { routing: () => edited });
}

test.each([
  ['whole', '/v1/chat/completions', false, 20_000],
  ['streamed', '/v1/chat/completions', true, 20_000],
  ['asked again by a guardrail', '/v1/chat/completions', false, 40_000],
  ['passed through', '/passthrough/openai/v1/chat/completions', false, 20_000],
])('a price that changes meanwhile is for the next request: %s', async (name, path, stream, costNanoUsd) => {
  const check = { type: 'words', words: ['secret'] } as const;
  const rule = { name: 'words', on: 'output', check, action: 'retry', maxRetries: 1, onError: 'block' } as const;
  pipeline = await openPipeline({
    project: { passthrough: ['openai'] },
    ...(name.includes('guardrail') && {
      policy: { mode: 'enforce', pseudonymScope: 'request', version: 1, rules: [rule] },
    }),
  });
  const answers = stream ? [streamed()] : [says('a secret'), says('two')];
  Object.assign(pipeline.services, {
    fetch: async (_url: string, { signal }: { signal: AbortSignal }) => {
      editPrices();
      return answers.shift()?.(signal, MODEL);
    },
  });
  const request = new Request(`http://gateway.test${path}`, {
    method: 'POST',
    headers: { 'x-api-key': SECRET, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, stream, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }),
  });
  const answered = await (path.startsWith('/passthrough')
    ? handlePassthrough(pipeline.services, entrance, request)
    : handleChat(pipeline.services, openaiChat, request));
  await answered.text();
  expect(await pipeline.rows()).toMatchObject([{ status: 'success', costNanoUsd }]);
});
