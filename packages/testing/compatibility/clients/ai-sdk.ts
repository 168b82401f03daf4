import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import {
  generateText,
  isStepCount,
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  Output,
  streamText,
  tool,
} from 'ai';
import {
  type AgentRun,
  CITY_SCHEMA,
  type ClientDriver,
  type ConnectedClient,
  type GatewayAccess,
  MAX_OUTPUT_TOKENS,
  PNG,
  type Question,
  type Reply,
  SUNNIEST_SCHEMA,
  statusField,
  WEATHER,
} from '../client-driver';
import { npmLibrary } from '../libraries';

type ModelOf = (gateway: GatewayAccess) => (model: string) => LanguageModel;

const WEATHER_TOOL = {
  description: WEATHER.description,
  inputSchema: jsonSchema<{ city: string }>({ ...WEATHER.schema, required: [...WEATHER.schema.required] }),
};
const WEATHER_TOOLS = { [WEATHER.name]: tool(WEATHER_TOOL) };
const CITY_OUTPUT = Output.object({
  schema: jsonSchema<{ city: string }>({ ...CITY_SCHEMA, required: [...CITY_SCHEMA.required] }),
});
const SUNNIEST_OUTPUT = Output.object({
  schema: jsonSchema<{ sunniest: string }>({ ...SUNNIEST_SCHEMA, required: [...SUNNIEST_SCHEMA.required] }),
});
const THINKING_TOKENS = 1024;
const MAX_STEPS = 5;

/** `ai` with its OpenAI provider, at either of its APIs, and with its Anthropic provider. */
export const aiSdkClients: readonly ClientDriver[] = [
  driver(
    {
      ...{ name: 'ai + @ai-sdk/openai (chat)', library: npmLibrary('ai', '@ai-sdk/openai') },
      ...{ api: '/v1/chat/completions', showsReasoning: false },
    },
    openaiModels('chat'),
  ),
  driver(
    {
      ...{ name: 'ai + @ai-sdk/openai (responses)', library: npmLibrary('ai', '@ai-sdk/openai') },
      ...{ api: '/v1/responses', showsReasoning: true },
    },
    openaiModels('responses'),
  ),
  driver(
    {
      ...{ name: 'ai + @ai-sdk/anthropic', library: npmLibrary('ai', '@ai-sdk/anthropic') },
      ...{ api: '/v1/messages', showsReasoning: true },
    },
    ({ url, apiKey }) => createAnthropic({ baseURL: `${url}/v1`, apiKey }),
  ),
];

function openaiModels(api: 'chat' | 'responses'): ModelOf {
  return ({ url, apiKey }) => {
    const provider = createOpenAI({ baseURL: `${url}/v1`, apiKey });
    return (model) => provider[api](model);
  };
}

function driver(about: Omit<ClientDriver, 'connect'>, modelOf: ModelOf): ClientDriver {
  return {
    ...about,
    runsAgents: true,
    connect: (gateway): ConnectedClient => {
      const models = modelOf(gateway);
      return {
        ask: (question) => ask(models(question.model), question, REASONING[about.api]),
        runAgent: (question) => runAgent(models(question.model), question),
        statusOf: statusField,
      };
    },
  };
}

/** The library's own loop: it runs the tool and goes on until there is an answer. */
async function runAgent(model: LanguageModel, question: Question): Promise<AgentRun> {
  const toolInputs: unknown[] = [];
  const settings = {
    ...baseSettings(model, question),
    tools: {
      [WEATHER.name]: tool({
        ...WEATHER_TOOL,
        execute: (input: { city: string }) => {
          toolInputs.push(input);
          return `Sunny in ${input.city}`;
        },
      }),
    },
    stopWhen: isStepCount(MAX_STEPS),
  };
  if (question.structured === true) {
    const result = await generateText({ ...settings, output: SUNNIEST_OUTPUT });
    return { text: result.text, toolInputs, steps: result.steps.length, object: result.output };
  }
  if (!question.stream) {
    const result = await generateText(settings);
    return { text: result.text, toolInputs, steps: result.steps.length };
  }
  const result = streamText(settings);
  for await (const part of result.fullStream) if (part.type === 'error') throw part.error;
  return { text: await result.text, toolInputs, steps: (await result.steps).length };
}

function baseSettings(model: LanguageModel, question: Question) {
  return {
    model,
    messages: question.turns.map(messageOf),
    maxRetries: 0,
    maxOutputTokens: MAX_OUTPUT_TOKENS,
    abortSignal: question.signal,
  };
}

async function ask(
  model: LanguageModel,
  question: Question,
  providerOptions: Parameters<typeof generateText>[0]['providerOptions'],
): Promise<Reply> {
  const settings = {
    ...baseSettings(model, question),
    stopWhen: isStepCount(1),
    ...(question.tools === true ? { tools: WEATHER_TOOLS } : {}),
    ...(question.structured === true ? { output: CITY_OUTPUT } : {}),
    ...(question.reasoning === true ? { providerOptions } : {}),
  };
  if (!question.stream) {
    const result = await generateText(settings);
    return replyOf({
      ...{ text: result.text, toolCalls: result.toolCalls, reasoning: result.reasoningText },
      ...{ totalTokens: result.totalUsage.totalTokens, messages: result.responseMessages },
    });
  }
  let failure: unknown;
  const result = streamText({
    ...settings,
    onError: ({ error }) => {
      failure = error;
    },
  });
  for await (const part of result.fullStream) if (part.type.endsWith('-delta')) question.onPiece?.();
  if (failure !== undefined) throw failure;
  question.signal?.throwIfAborted();
  return replyOf({
    ...{ text: await result.text, toolCalls: await result.toolCalls, reasoning: await result.reasoningText },
    ...{ totalTokens: (await result.totalUsage).totalTokens, messages: await result.responseMessages },
  });
}

/** How each API is asked to think, in the library's words. */
const REASONING: Readonly<Record<string, Parameters<typeof generateText>[0]['providerOptions']>> = {
  '/v1/chat/completions': { openai: { reasoningEffort: 'medium', forceReasoning: true } },
  '/v1/responses': { openai: { reasoningEffort: 'medium', reasoningSummary: 'auto', forceReasoning: true } },
  '/v1/messages': { anthropic: { thinking: { type: 'enabled', budgetTokens: THINKING_TOKENS } } },
};

interface Given {
  readonly text: string;
  readonly toolCalls: readonly { readonly toolCallId: string; readonly toolName: string; readonly input: unknown }[];
  readonly reasoning: string | undefined;
  readonly totalTokens: number | undefined;
  readonly messages: readonly ModelMessage[];
}

function replyOf({ text, toolCalls, reasoning, totalTokens, messages }: Given): Reply {
  const calls = toolCalls.map(({ toolCallId: id, toolName: name, input: args }) => ({ id, name, args }));
  return { text, calls, reasoning, totalTokens, native: messages[0] };
}

function messageOf(turn: Question['turns'][number]): ModelMessage {
  if (turn.role === 'assistant') return turn.reply.native as ModelMessage;
  if (turn.role === 'tool') {
    const content = turn.results.map(({ call, text }) => ({
      type: 'tool-result' as const,
      toolCallId: call.id,
      toolName: call.name,
      output: { type: 'text' as const, value: text },
    }));
    return { role: 'tool', content };
  }
  if (turn.imageBase64 === undefined) return { role: 'user', content: turn.text };
  const image = { type: 'file' as const, data: turn.imageBase64, mediaType: PNG };
  return { role: 'user', content: [{ type: 'text', text: turn.text }, image] };
}
