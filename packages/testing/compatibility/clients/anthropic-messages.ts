import Anthropic from '@anthropic-ai/sdk';
import {
  CITY_SCHEMA,
  type ClientDriver,
  MAX_OUTPUT_TOKENS,
  PNG,
  type Question,
  type Reply,
  WEATHER,
} from '../client-driver';
import { npmLibrary } from '../libraries';

const THINKING_TOKENS = 1024;

export const anthropicClient: ClientDriver = {
  name: '@anthropic-ai/sdk',
  library: npmLibrary('@anthropic-ai/sdk'),
  api: '/v1/messages',
  showsReasoning: true,
  connect: ({ url, apiKey }) => {
    const client = new Anthropic({ apiKey, baseURL: url, maxRetries: 0 });
    return {
      ask: (question) => ask(client, question),
      statusOf: (error) => (error instanceof Anthropic.APIError ? error.status : undefined),
    };
  },
};

async function ask(client: Anthropic, question: Question): Promise<Reply> {
  const body: Anthropic.MessageCreateParamsNonStreaming = {
    model: question.model,
    max_tokens: MAX_OUTPUT_TOKENS,
    messages: question.turns.map(messageOf),
    ...(question.tools === true
      ? {
          tools: [
            {
              name: WEATHER.name,
              description: WEATHER.description,
              input_schema: { ...WEATHER.schema, required: [...WEATHER.schema.required] },
            },
          ],
        }
      : {}),
    ...(question.structured === true
      ? { output_config: { format: { type: 'json_schema', schema: CITY_SCHEMA } } }
      : {}),
    ...(question.reasoning === true ? { thinking: { type: 'enabled', budget_tokens: THINKING_TOKENS } } : {}),
  };
  const { signal } = question;
  if (!question.stream) return replyOf(await client.messages.create(body, { signal }));
  const stream = client.messages.stream(body, { signal });
  stream.on('streamEvent', (event) => {
    if (event.type === 'content_block_delta') question.onPiece?.();
  });
  return replyOf(await stream.finalMessage());
}

function replyOf({ content, usage }: Anthropic.Message): Reply {
  const texts = content.map((block) => (block.type === 'text' ? block.text : ''));
  const thoughts = content.map((block) => (block.type === 'thinking' ? block.thinking : ''));
  return {
    text: texts.join(''),
    calls: content.flatMap((block) =>
      block.type === 'tool_use' ? [{ id: block.id, name: block.name, args: block.input }] : [],
    ),
    reasoning: thoughts.join(''),
    totalTokens: usage.input_tokens + usage.output_tokens + (usage.cache_read_input_tokens ?? 0),
    native: content,
  };
}

function messageOf(turn: Question['turns'][number]): Anthropic.MessageParam {
  if (turn.role === 'assistant')
    return { role: 'assistant', content: turn.reply.native as Anthropic.ContentBlockParam[] };
  if (turn.role === 'tool') {
    const content = turn.results.map(({ call, text }) => ({
      type: 'tool_result' as const,
      tool_use_id: call.id,
      content: text,
    }));
    return { role: 'user', content };
  }
  if (turn.imageBase64 === undefined) return { role: 'user', content: turn.text };
  const source = { type: 'base64', media_type: PNG, data: turn.imageBase64 } as const;
  return {
    role: 'user',
    content: [
      { type: 'image', source },
      { type: 'text', text: turn.text },
    ],
  };
}
