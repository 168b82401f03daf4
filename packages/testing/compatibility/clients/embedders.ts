import { createOpenAI } from '@ai-sdk/openai';
import { OpenAIEmbeddings } from '@langchain/openai';
import { embedMany } from 'ai';
import OpenAI from 'openai';
import { installPythonOpenai, PYTHON_OPENAI } from '../../sdk/install-python-openai';
import { statusField } from '../client-driver';
import type { EmbeddingDriver } from '../embeddings';
import { npmLibrary, pythonLibrary } from '../libraries';
import { PythonFailure, startPython } from './python';

/** Clients of `POST /v1/embeddings`. */
export const embeddingClients: readonly EmbeddingDriver[] = [
  {
    name: 'openai',
    library: npmLibrary('openai'),
    connect: ({ url, apiKey }) => {
      const client = new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
      return {
        embed: async ({ model, texts, dimensions }) => {
          const { data } = await client.embeddings.create({ model, input: [...texts], dimensions });
          return data.toSorted((a, b) => a.index - b.index).map(({ embedding }) => [...embedding]);
        },
        statusOf: statusField,
      };
    },
  },
  {
    name: 'openai for Python',
    library: pythonLibrary(PYTHON_OPENAI),
    connect: (gateway) => {
      const started = startPython('embeddings', installPythonOpenai)(gateway);
      started.catch(() => {});
      return {
        embed: async ({ dimensions = null, ...question }) => {
          const asked = { ...question, dimensions, leaves: false };
          return (await (await started).ask(asked)) as number[][];
        },
        statusOf: (error) => (error instanceof PythonFailure ? error.status : undefined),
        close: async () => (await started).close(),
      };
    },
  },
  {
    name: '@langchain/openai',
    library: npmLibrary('@langchain/openai'),
    connect: ({ url, apiKey }) => ({
      embed: ({ model, texts, dimensions }) => {
        const configuration = { baseURL: `${url}/v1` };
        const embeddings = new OpenAIEmbeddings({ model, apiKey, dimensions, maxRetries: 0, configuration });
        return embeddings.embedDocuments([...texts]);
      },
      statusOf: statusField,
    }),
  },
  {
    name: 'ai + @ai-sdk/openai',
    library: npmLibrary('ai', '@ai-sdk/openai'),
    connect: ({ url, apiKey }) => {
      const provider = createOpenAI({ baseURL: `${url}/v1`, apiKey });
      return {
        embed: async ({ model, texts, dimensions }) => {
          const providerOptions = dimensions === undefined ? undefined : { openai: { dimensions } };
          const asked = { model: provider.embedding(model), values: [...texts], maxRetries: 0, providerOptions };
          return (await embedMany(asked)).embeddings;
        },
        statusOf: statusField,
      };
    },
  },
];
