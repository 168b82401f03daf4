import { ChatAnthropic } from '@langchain/anthropic';
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import {
  type AIMessage,
  type AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  ToolMessage,
} from '@langchain/core/messages';
import { concat } from '@langchain/core/utils/stream';
import { ChatOpenAI } from '@langchain/openai';
import {
  CITY_SCHEMA,
  type ClientDriver,
  type GatewayAccess,
  MAX_OUTPUT_TOKENS,
  type Question,
  type Reply,
  statusField,
  WEATHER,
} from '../client-driver';
import { npmLibrary } from '../libraries';

type ModelOf = (gateway: GatewayAccess, question: Question) => BaseChatModel;

const THINKING_TOKENS = 1024;

/** `@langchain/openai` at both of its APIs, and `@langchain/anthropic` at Messages. */
export const langchainClients: readonly ClientDriver[] = [
  driver(
    { name: '@langchain/openai (chat)', library: '@langchain/openai', api: '/v1/chat/completions' },
    (gateway, question) =>
      new ChatOpenAI({
        ...openaiSettings(gateway, question),
        useResponsesApi: false,
        ...(question.reasoning === true ? { modelKwargs: { reasoning_effort: 'medium' } } : {}),
      }),
  ),
  driver(
    { name: '@langchain/openai (responses)', library: '@langchain/openai', api: '/v1/responses' },
    (gateway, question) =>
      new ChatOpenAI({
        ...openaiSettings(gateway, question),
        useResponsesApi: true,
        // The library's own setting reaches only models whose names it knows.
        ...(question.reasoning === true ? { modelKwargs: { reasoning: { effort: 'medium', summary: 'auto' } } } : {}),
      }),
  ),
  driver(
    { name: '@langchain/anthropic', library: '@langchain/anthropic', api: '/v1/messages' },
    ({ url, apiKey }, { model, reasoning }) => {
      const settings = { model, apiKey, maxRetries: 0, anthropicApiUrl: url, maxTokens: MAX_OUTPUT_TOKENS };
      const thinking = { type: 'enabled', budget_tokens: THINKING_TOKENS } as const;
      return new ChatAnthropic({ ...settings, ...(reasoning === true ? { thinking } : {}) });
    },
  ),
];

function openaiSettings({ url, apiKey }: GatewayAccess, { model }: Question) {
  return { model, apiKey, maxRetries: 0, configuration: { baseURL: `${url}/v1` } };
}

interface About extends Pick<ClientDriver, 'name' | 'api'> {
  readonly library: '@langchain/openai' | '@langchain/anthropic';
}

function driver({ library, ...about }: About, modelOf: ModelOf): ClientDriver {
  return {
    ...{ ...about, library: npmLibrary(library), showsReasoning: true },
    connect: (gateway) => ({
      ask: (question) => ask(modelOf(gateway, question), question),
      statusOf: statusField,
    }),
  };
}

async function ask(model: BaseChatModel, question: Question): Promise<Reply> {
  const messages = question.turns.flatMap(messagesOf);
  const { signal } = question;
  if (question.structured === true) {
    const chain = model.withStructuredOutput(CITY_SCHEMA, { name: 'city', includeRaw: true });
    const { raw, parsed } = await chain.invoke(messages, { signal });
    return { ...replyOf(raw as AIMessage), text: JSON.stringify(parsed), calls: [] };
  }
  const runnable =
    question.tools === true
      ? (model.bindTools?.([
          {
            type: 'function',
            function: { name: WEATHER.name, description: WEATHER.description, parameters: WEATHER.schema },
          },
        ]) ?? model)
      : model;
  if (!question.stream) return replyOf((await runnable.invoke(messages, { signal })) as AIMessage);
  let whole: AIMessageChunk | undefined;
  for await (const chunk of await runnable.stream(messages, { signal })) {
    question.onPiece?.();
    const piece = chunk as AIMessageChunk;
    whole = whole === undefined ? piece : concat(whole, piece);
  }
  if (whole === undefined) throw new Error('the stream brought nothing');
  return replyOf(whole);
}

function replyOf(message: AIMessage | AIMessageChunk): Reply {
  const blocks = Array.isArray(message.content) ? message.content : [];
  const thoughts = blocks.map((block) => ('thinking' in block ? String(block.thinking) : '')).join('');
  const { reasoning_content: extra, reasoning } = message.additional_kwargs;
  const summary = (reasoning as { readonly summary?: readonly { readonly text: string }[] } | undefined)?.summary ?? [];
  return {
    text: message.text,
    calls: (message.tool_calls ?? []).map(({ id = '', name, args }) => ({ id, name, args })),
    reasoning: [thoughts, typeof extra === 'string' ? extra : '', ...summary.map(({ text }) => text)].join(''),
    totalTokens: message.usage_metadata?.total_tokens,
    native: message,
  };
}

function messagesOf(turn: Question['turns'][number]): BaseMessage[] {
  if (turn.role === 'assistant') return [turn.reply.native as BaseMessage];
  if (turn.role === 'tool') {
    return turn.results.map(
      ({ call, text }) => new ToolMessage({ tool_call_id: call.id, content: text, name: call.name }),
    );
  }
  if (turn.imageBase64 === undefined) return [new HumanMessage(turn.text)];
  const url = `data:image/png;base64,${turn.imageBase64}`;
  return [
    new HumanMessage({
      content: [
        { type: 'text', text: turn.text },
        { type: 'image_url', image_url: { url } },
      ],
    }),
  ];
}
