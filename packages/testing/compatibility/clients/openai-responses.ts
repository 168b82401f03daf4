import type OpenAI from 'openai';
import { CITY_SCHEMA, type ClientDriver, parseArguments, type Question, type Reply, WEATHER } from '../client-driver';
import { npmLibrary } from '../libraries';
import { connectOpenai } from './connect-openai';

type Item = OpenAI.Responses.ResponseInputItem;

export const openaiResponsesClient: ClientDriver = {
  name: 'openai (responses)',
  library: npmLibrary('openai'),
  api: '/v1/responses',
  showsReasoning: true,
  connect: connectOpenai(ask),
};

async function ask(client: OpenAI, question: Question): Promise<Reply> {
  const body: OpenAI.Responses.ResponseCreateParamsNonStreaming = {
    model: question.model,
    input: question.turns.flatMap(itemsOf),
    store: false,
    ...(question.tools === true
      ? {
          tools: [
            {
              type: 'function',
              name: WEATHER.name,
              description: WEATHER.description,
              parameters: WEATHER.schema,
              strict: true,
            },
          ],
        }
      : {}),
    ...(question.structured === true
      ? { text: { format: { type: 'json_schema', name: 'city', strict: true, schema: CITY_SCHEMA } } }
      : {}),
    ...(question.reasoning === true ? { reasoning: { effort: 'medium', summary: 'auto' } } : {}),
  };
  const { signal } = question;
  if (!question.stream) return replyOf(await client.responses.create(body, { signal }));
  const stream = client.responses.stream({ ...body, stream: true }, { signal });
  for await (const event of stream) {
    if (event.type.endsWith('.delta')) question.onPiece?.();
  }
  return replyOf(await stream.finalResponse());
}

function replyOf(response: OpenAI.Responses.Response): Reply {
  const reasoning: string[] = [];
  const calls: Reply['calls'][number][] = [];
  for (const item of response.output) {
    if (item.type === 'function_call') {
      calls.push({ id: item.call_id, name: item.name, args: parseArguments(item.arguments) });
    }
    if (item.type === 'reasoning') {
      reasoning.push(...item.summary.map(({ text }) => text), ...(item.content ?? []).map(({ text }) => text));
    }
  }
  const { output_text: text, usage, output } = response;
  return { text, calls, reasoning: reasoning.join(''), totalTokens: usage?.total_tokens, native: output };
}

function itemsOf(turn: Question['turns'][number]): Item[] {
  if (turn.role === 'assistant') return turn.reply.native as Item[];
  if (turn.role === 'tool') {
    return turn.results.map(({ call, text }) => ({ type: 'function_call_output', call_id: call.id, output: text }));
  }
  if (turn.imageBase64 === undefined) return [{ role: 'user', content: turn.text }];
  const url = `data:image/png;base64,${turn.imageBase64}`;
  return [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: turn.text },
        { type: 'input_image', image_url: url, detail: 'auto' },
      ],
    },
  ];
}
