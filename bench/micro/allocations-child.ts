// A process of its own: passes requests through the pipeline, without stores or network, between two marks for whoever counts
// what the collector prints meanwhile. Arguments: `miss`, `hit` or `stream`, and how many requests.
import { encodeCachedAnswer } from '@llm0/core/cache/cached-answer';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import type { AdmitDecision, HotStore } from '@llm0/core/limits/hot-store';
import { openaiChat } from '@llm0/gateway/dialects/openai-chat/index';
import { handleChat } from '@llm0/gateway/pipeline/chat/handle-chat';
import { MODEL, openPipeline, SECRET } from '@llm0/gateway/pipeline/open-pipeline.fixture';
import { readMainThread } from '../machine/process-stats';

const [kind = 'miss', count = '20000'] = process.argv.slice(2);
const WARM_UP = 15_000;
const TEXT = 'The capital of France is Paris. It is also its largest city.';

const answer = JSON.stringify({
  ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1_760_000_000, model: MODEL },
  choices: [{ index: 0, message: { role: 'assistant', content: TEXT, refusal: null }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 20, completion_tokens: 12, total_tokens: 32 },
});
const chunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_760_000_000, model: MODEL };
const eventOf = (delta: object, finish: string | null = null) => {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
  return `data: ${JSON.stringify({ ...chunk, choices })}\n\n`;
};
const usage = { prompt_tokens: 20, completion_tokens: 12, total_tokens: 32 };
const stream = new TextEncoder().encode(
  [
    eventOf({ role: 'assistant', content: '' }),
    ...Array.from({ length: 20 }, (_, index) => eventOf({ content: `word${index} ` })),
    eventOf({}, 'stop'),
    `data: ${JSON.stringify({ ...chunk, choices: [], usage })}\n\ndata: [DONE]\n\n`,
  ].join(''),
);
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
const isStream = kind === 'stream';
const decide = DECISIONS[isStream ? 'miss' : kind];
if (decide === undefined) throw new Error(`"${kind}" is none of miss, hit and stream`);

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
  fetch: (async () => (isStream ? streamed() : plain())) as unknown as typeof fetch,
};

function plain(): Response {
  const headers = { 'content-type': 'application/json', 'content-length': String(answer.length) };
  return new Response(answer, { headers });
}

/** All at once, as from a vendor that is faster than the network. */
function streamed(): Response {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(stream.slice());
      controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

async function pass(requests: number): Promise<void> {
  for (let i = 0; i < requests; i++) {
    const content = `Question ${i}: what is the capital of France?`;
    const body = JSON.stringify({
      model: MODEL,
      messages: [{ role: 'user', content }],
      max_tokens: 64,
      stream: isStream,
    });
    const headers = { authorization: `Bearer ${SECRET}`, 'content-length': String(body.length) };
    const response = await handleChat(ask, openaiChat, new Request('http://bench/', { method: 'POST', body, headers }));
    if (response.status !== 200) throw new Error(await response.text());
    if (isStream) await response.text();
    // What tests look at afterwards.
    for (const list of [world.warm, world.bodies]) list.length = 0;
  }
}

await pass(WARM_UP);
console.error('MARK');
const before = readMainThread(process.pid);
await pass(Number(count));
const seconds = readMainThread(process.pid) - before;
console.error('MARK');
console.error(`MAIN ${(1_000_000 * seconds) / Number(count)}`);
process.exit(0);
