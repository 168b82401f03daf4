import type OpenAI from 'openai';
import { CITY_SCHEMA, type ClientDriver, parseArguments, type Question, type Reply, WEATHER } from '../client-driver';
import { npmLibrary } from '../libraries';
import { connectOpenai } from './connect-openai';

type Message = OpenAI.ChatCompletionMessage & { reasoning_content?: string };

export const openaiChatClient: ClientDriver = {
  name: 'openai (chat)',
  library: npmLibrary('openai'),
  api: '/v1/chat/completions',
  showsReasoning: true,
  connect: connectOpenai(ask),
};

async function ask(client: OpenAI, question: Question): Promise<Reply> {
  const body: OpenAI.ChatCompletionCreateParamsNonStreaming = {
    model: question.model,
    messages: question.turns.flatMap(messagesOf),
    ...(question.tools === true
      ? {
          tools: [
            {
              type: 'function',
              function: { name: WEATHER.name, description: WEATHER.description, parameters: WEATHER.schema },
            },
          ],
        }
      : {}),
    ...(question.structured === true
      ? { response_format: { type: 'json_schema', json_schema: { name: 'city', strict: true, schema: CITY_SCHEMA } } }
      : {}),
    ...(question.reasoning === true ? { reasoning_effort: 'medium' } : {}),
  };
  const { signal } = question;
  if (!question.stream) {
    const completion = await client.chat.completions.create(body, { signal });
    return replyOf(completion.choices[0]?.message, completion.usage?.total_tokens);
  }
  let reasoning = '';
  const runner = client.chat.completions.stream({ ...body, stream: true }, { signal });
  runner.on('chunk', (chunk) => {
    question.onPiece?.();
    const delta = chunk.choices[0]?.delta as { reasoning_content?: string } | undefined;
    reasoning += delta?.reasoning_content ?? '';
  });
  const completion = await runner.finalChatCompletion();
  const reply = replyOf(completion.choices[0]?.message, completion.usage?.total_tokens);
  return { ...reply, reasoning };
}

function replyOf(message: Message | undefined, totalTokens: number | undefined): Reply {
  const calls = (message?.tool_calls ?? []).flatMap((call) =>
    call.type === 'function'
      ? [{ id: call.id, name: call.function.name, args: parseArguments(call.function.arguments) }]
      : [],
  );
  return { text: message?.content ?? '', calls, reasoning: message?.reasoning_content, totalTokens, native: message };
}

function messagesOf(turn: Question['turns'][number]): OpenAI.ChatCompletionMessageParam[] {
  if (turn.role === 'assistant') return [turn.reply.native as OpenAI.ChatCompletionMessageParam];
  if (turn.role === 'tool') {
    return turn.results.map(({ call, text }) => ({ role: 'tool', tool_call_id: call.id, content: text }));
  }
  if (turn.imageBase64 === undefined) return [{ role: 'user', content: turn.text }];
  const url = `data:image/png;base64,${turn.imageBase64}`;
  return [
    {
      role: 'user',
      content: [
        { type: 'text', text: turn.text },
        { type: 'image_url', image_url: { url } },
      ],
    },
  ];
}
