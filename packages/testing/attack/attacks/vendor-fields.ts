// Fields that change who answers, what is read, and what it costs.
import type { JsonObject } from '@llm0/core/chat/json';
import { callAdmin } from '../../stores/start-gateway';
import { answersAs, readsMore } from '../answers';
import type { Attack, AttackContext } from '../attack';
import { HONEST } from '../hostile-upstream';
import { APIS, type Api, ask, MAY_PASS_THROUGH } from './ask-with';

const SETTINGS = { perMinute: 1_000, project: { ...MAY_PASS_THROUGH, cache_enabled: false } } as const;
const CHEAP = 'maker/cheap';
const DEAR = 'gpt-5.6';
const ROUTED = { models: [CHEAP, DEAR], route: 'fallback', provider: { order: ['dear'], allow_fallbacks: true } };

const priceCheap = (gateway: AttackContext['gateway']) =>
  callAdmin(gateway, `/models?provider=openrouter&model=${encodeURIComponent(CHEAP)}`, {
    method: 'PUT',
    body: { input_usd_per_million: 0.01, output_usd_per_million: 0.02 },
  });

/** Tokens that a vendor reads for what stands in a request only by its name. */
const UNSEEN_TOKENS = 100_000;
/** Fields by API that make a vendor read, search or run more than was sent. */
const UNSEEN: readonly (readonly [Api, string, object])[] = [
  ['chat', 'web_search_options', { web_search_options: { search_context_size: 'high' } }],
  ['chat', 'plugins', { plugins: [{ id: 'web' }] }],
  ['chat', 'file', { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }] }],
  ['chat', 'vector', { tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] }],
  ['responses', 'web_search', { tools: [{ type: 'web_search' }] }],
  ['responses', 'code_interpreter', { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }],
  ['responses', 'file_search', { tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] }],
  ['responses', 'server_url', { tools: [{ type: 'mcp', server_label: 'x', server_url: 'https://x.test' }] }],
  ['responses', 'pmpt_1', { prompt: { id: 'pmpt_1' } }],
  ['responses', 'conv_1', { conversation: 'conv_1' }],
  ['responses', 'file-1', { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }] }],
  ['messages', 'web_search', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
  ['messages', 'code_execution', { tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] }],
  ['messages', 'mcp_servers', { mcp_servers: [{ type: 'url', url: 'https://x.test', name: 'x' }] }],
  [
    'messages',
    'file_1',
    { messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'file_1' } }] }] },
  ],
  ['messages', 'skills', { container: { skills: [{ type: 'anthropic', skill_id: 'xlsx' }] } }],
  ['gemini', 'googleSearch', { tools: [{ googleSearch: {} }] }],
  ['gemini', 'urlContext', { tools: [{ urlContext: {} }] }],
  ['gemini', 'codeExecution', { tools: [{ codeExecution: {} }] }],
  ['gemini', 'cachedContents', { cachedContent: 'cachedContents/1' }],
  ['gemini', 'fileUri', { contents: [{ role: 'user', parts: [{ fileData: { fileUri: 'https://x.test/files/1' } }] }] }],
];
const NATIVE: Partial<Record<Api, string>> = {
  chat: '/passthrough/openai/v1/chat/completions',
  responses: '/passthrough/openai/v1/responses',
  messages: '/passthrough/anthropic/v1/messages',
  gemini: '/passthrough/gemini/v1beta/models/gemini-2.5-flash:generateContent',
};

const unseen = ([api, mark, more]: (typeof UNSEEN)[number]): Attack => ({
  name: `read, but not sent: ${api} ${Object.keys(more).join()} ${mark}`,
  ...SETTINGS,
  answer: () => readsMore(({ text }) => (text.includes(mark) ? UNSEEN_TOKENS : 0)),
  play: async ({ send }) => {
    const { path, body } = APIS[api]('x');
    await send(path, { body: { ...body, ...more } });
    await send(NATIVE[api] ?? path, { body: { ...body, ...more } });
  },
});

/** Ways to name a model beside the one that is allowed. */
const ELSEWHERE: readonly (readonly [Api, object])[] = [
  ['chat', { model: DEAR }],
  ['chat', { model: `openai/${DEAR}` }],
  ['chat', { model: ` ${DEAR}` }],
  ['chat', { model: DEAR.toUpperCase() }],
  ['chat', { model: `gpt-4o-mini/${DEAR}` }],
  ['chat', { model: `openrouter/openai/${DEAR}` }],
  ['chat', { models: [DEAR] }],
  ['chat', { model: 'gpt-4o-mini', fallback_models: [DEAR], fallbacks: [DEAR], route: 'fallback' }],
  ['chat', { model: [DEAR] }],
  ['chat', { model: { id: DEAR } }],
  ['completions', { model: DEAR }],
  ['messages', { model: DEAR }],
  ['responses', { model: DEAR }],
  ['responses', { tools: [{ type: 'image_generation', model: DEAR }] }],
  ['responses', { prompt: { id: 'pmpt_1', variables: { model: DEAR } }, model: undefined }],
  ['embeddings', { model: 'text-embedding-3-large' }],
  ['passthrough', { model: DEAR }],
  ['passthrough', { model: `gpt-4o-mini,${DEAR}` }],
  ['passthrough', { models: [DEAR] }],
  ['passthrough', { model: undefined }],
];

export const VENDOR_FIELDS: readonly Attack[] = [
  {
    name: 'a model that another one answers for',
    ...SETTINGS,
    answer: () => answersAs(({ body }) => (Array.isArray(body.models) ? DEAR : undefined)),
    play: async ({ send, gateway }) => {
      await priceCheap(gateway);
      for (const path of ['/v1/chat/completions', '/passthrough/openrouter/v1/chat/completions']) {
        const model = path.startsWith('/v1') ? `openrouter/${CHEAP}` : CHEAP;
        for (const stream of [false, true])
          await send(path, { body: { ...APIS.chat('x').body, ...ROUTED, model, stream } });
      }
    },
  },
  {
    name: 'a vendor that answers as a dearer model',
    ...{ ...SETTINGS, answer: () => answersAs(() => DEAR) },
    play: async (context) => {
      await ask(context, 'chat', 'x');
      await ask(context, 'chat', 'x', { more: { stream: true } });
      await ask(context, 'passthrough', 'x');
      await ask(context, 'passthrough', 'x', { more: { stream: true, stream_options: { include_usage: true } } });
    },
  },
  {
    name: 'a dearer service tier',
    ...{ ...SETTINGS, answer: () => HONEST },
    play: async (context) => {
      for (const api of ['chat', 'responses', 'passthrough'] as const) {
        await ask(context, api, 'x', { more: { service_tier: 'priority' } });
      }
    },
  },
  ...UNSEEN.map(unseen),
  {
    name: 'models besides the allowed one',
    ...{ ...SETTINGS, keySettings: { allowed_models: ['gpt-4o-mini'] } },
    play: async (context) => {
      for (const [api, more] of ELSEWHERE) await ask(context, api, 'x', { more });
      await context.send(NATIVE.gemini ?? '', { body: APIS.gemini('x').body });
      await context.send('/v1/models/gpt-5.6:generateContent', { body: APIS.gemini('x').body });
      const others = context.upstream.calls.filter(({ path, text, body }) => {
        return !isAllowed(body) || text.includes(DEAR) || path.includes('gemini');
      });
      return others.length === 0
        ? undefined
        : `reached ${others.map(({ path, text }) => `${path} ${text.slice(0, 100)}`)}`;
    },
  },
];

const isAllowed = ({ model }: JsonObject) => model === 'gpt-4o-mini';
