import type { EmbeddingDialect } from '../dialect';
import { encodeError } from '../openai-chat/encode-error';
import { decodeEmbeddingRequest } from './decode-embedding-request';
import { encodeEmbeddings, encodeLargeEmbeddings } from './encode-embeddings';

/** `POST /v1/embeddings`. Source: https://platform.openai.com/docs/api-reference/embeddings */
export const openaiEmbeddings: EmbeddingDialect = {
  name: 'openai-embeddings',
  decodeRequest: decodeEmbeddingRequest,
  encodeResponse: encodeEmbeddings,
  encodeLargeResponse: encodeLargeEmbeddings,
  encodeError,
};
