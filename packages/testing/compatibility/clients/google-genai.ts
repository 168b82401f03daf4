import { ApiError, type Content, type GenerateContentResponse, GoogleGenAI, type Part } from '@google/genai';
import { CITY_SCHEMA, type ClientDriver, PNG, type Question, type Reply, WEATHER } from '../client-driver';
import { npmLibrary } from '../libraries';

export const googleGenaiClient: ClientDriver = {
  name: '@google/genai',
  library: npmLibrary('@google/genai'),
  api: '/v1/models/{model}:generateContent',
  families: ['Gemini'],
  showsReasoning: true,
  connect: ({ url, apiKey }) => {
    const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url } });
    return {
      ask: (question) => ask(client, question),
      statusOf: (error) => (error instanceof ApiError ? error.status : undefined),
    };
  },
};

async function ask(client: GoogleGenAI, question: Question): Promise<Reply> {
  const { name, description, schema } = WEATHER;
  const request = {
    model: question.model,
    contents: question.turns.map(contentOf),
    config: {
      abortSignal: question.signal,
      ...(question.tools === true
        ? { tools: [{ functionDeclarations: [{ name, description, parametersJsonSchema: schema }] }] }
        : {}),
      ...(question.structured === true
        ? { responseMimeType: 'application/json', responseJsonSchema: CITY_SCHEMA }
        : {}),
      ...(question.reasoning === true ? { thinkingConfig: { includeThoughts: true } } : {}),
    },
  };
  if (!question.stream) return replyOf([await client.models.generateContent(request)]);
  const chunks: GenerateContentResponse[] = [];
  for await (const chunk of await client.models.generateContentStream(request)) {
    question.onPiece?.();
    chunks.push(chunk);
  }
  return replyOf(chunks);
}

function replyOf(chunks: readonly GenerateContentResponse[]): Reply {
  const parts: Part[] = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);
  const textOf = (isThought: boolean) =>
    parts.map((part) => ((part.thought === true) === isThought ? (part.text ?? '') : '')).join('');
  return {
    text: textOf(false),
    calls: parts.flatMap(({ functionCall }, index) =>
      functionCall === undefined
        ? []
        : [{ id: functionCall.id ?? String(index), name: functionCall.name ?? '', args: functionCall.args }],
    ),
    reasoning: textOf(true),
    totalTokens: chunks.at(-1)?.usageMetadata?.totalTokenCount,
    native: parts,
  };
}

function contentOf(turn: Question['turns'][number]): Content {
  if (turn.role === 'assistant') return { role: 'model', parts: turn.reply.native as Part[] };
  if (turn.role === 'tool') {
    const parts = turn.results.map(({ call, text }) => ({
      functionResponse: { name: call.name, response: { output: text } },
    }));
    return { role: 'user', parts };
  }
  const image = turn.imageBase64 === undefined ? [] : [{ inlineData: { mimeType: PNG, data: turn.imageBase64 } }];
  return { role: 'user', parts: [{ text: turn.text }, ...image] };
}
