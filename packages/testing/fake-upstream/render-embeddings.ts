import type { JsonObject, JsonValue } from '@llm0/core/chat/json';

/** Dimensions of a vector where none are asked for. */
const DIMENSIONS = 8;

/** The vector of a text (or of its tokens as text): always the same one, and another for any other text. */
export function fakeVector(text: string, dimensions = DIMENSIONS): number[] {
  const seed = Number(Bun.hash(text) % 100_003n);
  return Array.from({ length: dimensions }, (_, i) => Math.fround(Math.sin(seed + i)));
}

/** Tokens billed for a text: its words. */
const countTokens = (text: string) => text.split(/\s+/).length;

export interface FakeEmbeddings {
  readonly body: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
}

export type FakeEmbeddingVendor = 'openai' | 'gemini' | 'bedrock' | 'cohere';

/** How each vendor's API answers a request for embeddings. `tokens`: what to bill instead. */
export const FAKE_EMBEDDINGS = {
  openai: (body, tokens) => {
    const texts = openaiTexts(body.input);
    const prompt = tokens ?? texts.reduce((sum, text) => sum + countTokens(text), 0);
    const data = texts.map((text, index) => {
      const vector = fakeVector(text, Number(body.dimensions ?? body.output_dimension ?? DIMENSIONS));
      const embedding = body.encoding_format === 'base64' ? toBase64(vector) : vector;
      return { object: 'embedding', index, embedding };
    });
    // Vendors promise an index, not an order.
    data.reverse();
    return {
      body: {
        object: 'list',
        data,
        model: body.model ?? 'fake',
        usage: { prompt_tokens: prompt, total_tokens: prompt },
      },
    };
  },
  gemini: (body, tokens) => {
    const requests = (body.requests ?? []) as {
      content: { parts: { text: string }[] };
      outputDimensionality?: number;
    }[];
    const embeddings = requests.map(({ content, outputDimensionality }) => ({
      values: fakeVector(content.parts[0]?.text ?? '', outputDimensionality),
    }));
    return { body: { embeddings, ...(tokens === undefined ? {} : { usageMetadata: { promptTokenCount: tokens } }) } };
  },
  bedrock: (body, tokens) => {
    const texts = Array.isArray(body.texts) ? body.texts.map(String) : [String(body.inputText)];
    const count = tokens ?? texts.reduce((sum, text) => sum + countTokens(text), 0);
    const vectors = texts.map((text) =>
      fakeVector(text, Number(body.dimensions ?? body.output_dimension ?? DIMENSIONS)),
    );
    const answer: JsonObject = Array.isArray(body.texts)
      ? { embeddings: { float: vectors } }
      : { embedding: vectors[0] ?? [], inputTextTokenCount: count };
    return { body: answer, headers: { 'x-amzn-bedrock-input-token-count': String(count) } };
  },
  cohere: (body, tokens) => {
    const texts = Array.isArray(body.texts) ? body.texts.map(String) : [];
    const float = texts.map((text) => fakeVector(text, Number(body.output_dimension ?? DIMENSIONS)));
    const input_tokens = tokens ?? texts.reduce((sum, text) => sum + countTokens(text), 0);
    return {
      body: { response_type: 'embeddings_by_type', embeddings: { float }, meta: { billed_units: { input_tokens } } },
    };
  },
} as const satisfies Record<FakeEmbeddingVendor, (body: JsonObject, tokens?: number) => FakeEmbeddings>;

function openaiTexts(input: JsonValue | undefined): string[] {
  if (!Array.isArray(input)) return [String(input)];
  return typeof input[0] === 'number'
    ? [input.join(' ')]
    : input.map((one) => (Array.isArray(one) ? one.join(' ') : String(one)));
}

const toBase64 = (vector: readonly number[]) => Buffer.from(new Float32Array(vector).buffer).toString('base64');
