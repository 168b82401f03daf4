import type { Provider } from '../provider';
import { batches } from './batches';
import { decodeError } from './decode-error';
import { decodeResponse } from './decode-response';
import { createStreamDecoder } from './decode-stream';
import { embeddings } from './embeddings';
import { listRemoteMedia } from './encode-media';
import { encodeRequest } from './encode-request';
import { probeEndpoint } from './endpoint';
import { passthrough } from './passthrough';
import { bidi } from './realtime/bidi';
import { image } from './tasks/image';
import { speech } from './tasks/speech';
import { transcription } from './tasks/transcription';
import { PROVIDER } from './wire';

/** The Gemini API of Google AI Studio. */
export const gemini: Provider = {
  name: PROVIDER,
  wireFormat: 'gemini-content',
  defaultBaseUrl: 'https://generativelanguage.googleapis.com',
  isFree: false,
  modelPatterns: [/^gemini-/, /^gemma-/],
  encodeRequest,
  decodeResponse,
  createStreamDecoder,
  decodeError: (status, headers, body) => decodeError({ status, headers, body }),
  remoteMedia: listRemoteMedia,
  probeUrl: probeEndpoint,
  embeddings,
  tasks: { image, speech, transcription },
  realtime: { bidi },
  passthrough,
  batches,
};
