import type { Provider } from '../provider';
import { decodeError } from './decode-error';
import { decodeResponse } from './decode-response';
import { createStreamDecoder } from './decode-stream';
import { embeddings } from './embeddings';
import { listRemoteMedia } from './encode-media';
import { encodeRequest } from './encode-request';
import { passthrough } from './passthrough';
import { image } from './tasks/image';
import { rerank } from './tasks/rerank';
import { PROVIDER } from './wire';

/** Amazon Bedrock through Converse and ConverseStream. */
export const bedrock: Provider = {
  name: PROVIDER,
  wireFormat: 'bedrock-converse',
  // The region is a part of the host.
  defaultBaseUrl: '',
  isFree: false,
  modelPatterns: [
    /^(?:(?:us|us-gov|eu|apac|ap|au|jp|ca|sa|global)\.)?(?:anthropic|amazon|meta|mistral|cohere|ai21|deepseek|openai|qwen|writer|twelvelabs|stability|nvidia|google|minimax|moonshot|moonshotai|zai|luma)\.[\w-]/,
    /^arn:aws[\w-]*:bedrock:/,
  ],
  encodeRequest,
  decodeResponse,
  createStreamDecoder,
  decodeError: (status, headers, body) => decodeError({ status, headers, body }),
  remoteMedia: listRemoteMedia,
  embeddings,
  tasks: { rerank, image },
  passthrough,
};
