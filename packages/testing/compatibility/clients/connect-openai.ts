import OpenAI from 'openai';
import type { ClientDriver, Question, Reply } from '../client-driver';

/** The official client, with one of its ways to ask. */
export function connectOpenai(ask: (client: OpenAI, question: Question) => Promise<Reply>): ClientDriver['connect'] {
  return ({ url, apiKey }) => {
    const client = new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
    return {
      ask: (question) => ask(client, question),
      statusOf: (error) => (error instanceof OpenAI.APIError ? error.status : undefined),
    };
  };
}
