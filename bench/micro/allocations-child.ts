// A process of its own: passes requests through the pipeline, without stores or network, between two marks for whoever counts
// what the collector prints meanwhile. Arguments: `miss` or `hit`, and how many requests.
import { encodeCachedAnswer } from '@llm0/core/cache/cached-answer';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import type { AdmitDecision, HotStore } from '@llm0/core/limits/hot-store';
import { openaiChat } from '@llm0/gateway/dialects/openai-chat/index';
import { handleChat } from '@llm0/gateway/pipeline/chat/handle-chat';
import { MODEL, openPipeline, SECRET } from '@llm0/gateway/pipeline/open-pipeline.fixture';

const [kind = 'miss', count = '20000'] = process.argv.slice(2);
const WARM_UP = 15_000;
const TEXT = 'The capital of France is Paris. It is also its largest city.';

const answer = JSON.stringify({
  ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1_760_000_000, model: MODEL },
  choices: [{ index: 0, message: { role: 'assistant', content: TEXT, refusal: null }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 20, completion_tokens: 12, total_tokens: 32 },
});
const cached = encodeCachedAnswer({
  ...{ v: 1, provider: 'openai', model: MODEL, costNanoUsd: 32_000 },
  response: { id: 'chatcmpl-1', model: MODEL, choices: [{ index: 0, text: TEXT, finishReason: 'stop' }] },
  usage: { ...ZERO_USAGE, inputTokens: 20, outputTokens: 12 },
});

const state = { rate: { limit: 100, remaining: 99, resetMs: 0 }, projectSpentNanoUsd: 0 };
const DECISIONS: Readonly<Record<string, (nowMs: number) => AdmitDecision>> = {
  miss: (nowMs) => ({ type: 'admitted', plan: 'requested', nowMs, hotTierIncomplete: false, state }),
  hit: (nowMs) => ({ type: 'cached', plan: 'requested', nowMs, value: cached, storedAtMs: nowMs, state }),
};
const decide = DECISIONS[kind];
if (decide === undefined) throw new Error(`"${kind}" is neither miss nor hit`);

const { services, world } = await openPipeline();
const store = {
  admit: async () => decide(Date.now()),
  settle: () => undefined,
  cacheWrite: () => {},
} satisfies Partial<HotStore>;
const ask = {
  ...services,
  hotStore: store as unknown as HotStore,
  config: { ...services.config, maxResponseBytes: 64 * 1024 * 1024, cacheMaxBodyBytes: 1024 * 1024 },
  fetch: (async () =>
    new Response(answer, {
      headers: { 'content-type': 'application/json', 'content-length': String(answer.length) },
    })) as unknown as typeof fetch,
};

async function pass(requests: number): Promise<void> {
  for (let i = 0; i < requests; i++) {
    const content = `Question ${i}: what is the capital of France?`;
    const body = JSON.stringify({ model: MODEL, messages: [{ role: 'user', content }], max_tokens: 64 });
    const headers = { authorization: `Bearer ${SECRET}`, 'content-length': String(body.length) };
    const response = await handleChat(ask, openaiChat, new Request('http://bench/', { method: 'POST', body, headers }));
    if (response.status !== 200) throw new Error(await response.text());
    // What tests look at afterwards.
    for (const list of [world.warm, world.bodies]) list.length = 0;
  }
}

await pass(WARM_UP);
console.error('MARK');
await pass(Number(count));
console.error('MARK');
process.exit(0);
