import { encodeError } from '../openai-chat/encode-error';
import { decodeEmbeddingRequest } from './decode-embedding-request';
import { encodeEmbeddings } from './encode-embeddings';

export type { EmbeddingFormat } from './encode-embeddings';

/** `POST /v1/embeddings`. Source: https://platform.openai.com/docs/api-reference/embeddings */
export const openaiEmbeddings = {
  name: 'openai-embeddings',
  decodeRequest: decodeEmbeddingRequest,
  encodeResponse: encodeEmbeddings,
  encodeError,
} as const;
