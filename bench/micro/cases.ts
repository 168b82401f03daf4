import { exactCacheKey } from '@llm0/core/cache/cache-key';
import type { ChatRequest } from '@llm0/core/chat/request';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import { hashSecret } from '@llm0/core/keys/api-key';
import { FloodLimits } from '@llm0/core/limits/flood-limits';
import { computeCost } from '@llm0/core/pricing/compute-cost';
import { SseDecoder } from '@llm0/core/sse/decode-sse';
import { encodeSse } from '@llm0/core/sse/encode-sse';
import { ChatStreamEncoder } from '@llm0/gateway/dialects/openai-chat/encode-stream';
import { benchKey } from '../load/bench-keys';

/** A part of the work of a request. */
export interface MicroCase {
  readonly name: string;
  run(): unknown;
}

const KIB = 1024;
const text = (bytes: number) => 'lorem ipsum dolor '.repeat(Math.ceil(bytes / 18)).slice(0, bytes);

const requestOf = (bytes: number): ChatRequest => ({
  model: 'gpt-4o-mini',
  messages: [
    { role: 'system', content: [{ type: 'text', text: 'You are a helpful assistant.' }] },
    { role: 'user', content: [{ type: 'text', text: text(bytes) }] },
  ],
  stream: false,
  temperature: 0,
  extra: { user: 'somebody', logit_bias: { '50256': -100 } },
});

const wireOf = (bytes: number): string =>
  JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: text(bytes) }], temperature: 0 });

const chunk = (content: string) =>
  JSON.stringify({
    id: 'chatcmpl-bench',
    object: 'chat.completion.chunk',
    created: 1_760_000_000,
    model: 'gpt-4o-mini',
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
  });

/** Twenty events as one read from a socket brings them. */
const STREAM = new TextEncoder().encode(Array.from({ length: 20 }, () => encodeSse(chunk('word '))).join(''));

const PRICED = {
  provider: 'openai',
  model: 'gpt-4o-mini',
  mode: 'chat',
  prices: { input: 150_000, output: 600_000, cache_read: 75_000 },
  capabilities: [],
} as const;
const USAGE = { ...ZERO_USAGE, inputTokens: 900, cacheReadTokens: 300, outputTokens: 420 };

const sizes = [
  ['small', 100],
  ['100 kB', 100 * KIB],
  ['1 MB', KIB * KIB],
] as const;

function floodOfMany(): () => unknown {
  const rate = { perSecond: 1e6, burst: 1e6 };
  const limits = new FloodLimits({ global: rate, client: rate });
  const clients = Array.from({ length: 100_000 }, (_, i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
  let next = 0;
  return () => {
    next = (next + 7919) % clients.length;
    return limits.take(clients[next] ?? '', performance.now()) ?? 'passes';
  };
}

/** What the profile of a request shows, apart from its sockets and stores. */
export function microCases(): readonly MicroCase[] {
  const key = benchKey(1);
  const body = JSON.parse(wireOf(100)) as object;
  return [
    { name: 'hash an API key', run: () => hashSecret(key) },
    ...sizes.map(([name, bytes]) => {
      const request = requestOf(bytes);
      return {
        name: `cache key of a ${name} request`,
        run: () => exactCacheKey('project', 'openai/gpt-4o-mini', request),
      };
    }),
    ...sizes.map(([name, bytes]) => {
      const wire = wireOf(bytes);
      return { name: `parse a ${name} request`, run: () => JSON.parse(wire) as object };
    }),
    { name: 'count a request of one of 100,000 clients', run: floodOfMany() },
    { name: 'stringify a small request', run: () => JSON.stringify(body) },
    { name: 'decode 20 events from one chunk', run: () => new SseDecoder().push(STREAM) },
    {
      name: 'decode 20 events, JSON included',
      run: () => new SseDecoder().push(STREAM).map(({ data }) => JSON.parse(data) as object),
    },
    { name: 'encode 20 events', run: encodeTwenty },
    { name: 'cost of an answer', run: () => computeCost(USAGE, PRICED) },
  ];
}

const BATCHES = Array.from({ length: 20 }, (_, index) => ({
  events: [{ type: 'text', choice: 0, text: `word ${index} ` } as const],
}));

const CONTEXT = {
  requestId: 'bench',
  model: 'gpt-4o-mini',
  createdSeconds: 1_760_000_000,
  request: requestOf(100),
};

/** As a translated or replayed stream is written: an upstream of the same format has its bytes forwarded instead. */
function encodeTwenty(): number {
  const encoder = new ChatStreamEncoder(CONTEXT);
  return BATCHES.reduce((bytes, batch) => bytes + (encoder.encode(batch)?.length ?? 0), 0);
}
