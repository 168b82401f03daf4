import { invalidRequest } from '../errors/gateway-error';
import type { EmbeddingInput } from './embedding-request';

/**
 * Tokens → the text they stand for, by the vocabulary of OpenAI's embedding models: clients count with it whatever model
 * they ask. It is loaded with the first request that needs it. Throws `invalid_request` for what is no such token.
 */
export async function decodeTokenInputs(inputs: readonly EmbeddingInput[]): Promise<readonly string[]> {
  const { decode } = await import('gpt-tokenizer/encoding/cl100k_base');
  return inputs.map((input, index) => {
    if (typeof input === 'string') return input;
    try {
      return decode(input);
    } catch (cause) {
      const message = `"input[${index}]" holds a number that is no token of cl100k_base. Send the text itself.`;
      throw invalidRequest(`input.${index}`, message, cause);
    }
  });
}
