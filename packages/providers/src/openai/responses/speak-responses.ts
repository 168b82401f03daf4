import type { Provider } from '../../provider';
import { PayloadStreamDecoder } from '../../transport/payload-stream-decoder';
import { decodeResponse } from './decode-response';
import { ResponsesDecoder } from './decode-stream';
import { encodeRequest } from './encode-request';
import { WIRE_FORMAT } from './wire';

const NO_URLS: readonly string[] = [];

/** A provider that takes Responses requests unchanged, and others as before. */
export function speakResponses(chat: Provider): Provider {
  const { name } = chat;
  return {
    ...chat,
    encodeRequest: (request, context) => {
      const { wire } = request;
      return wire?.format === WIRE_FORMAT
        ? encodeRequest(wire, request, context)
        : chat.encodeRequest(request, context);
    },
    decodeResponse: (body, request) =>
      request.wire?.format === WIRE_FORMAT ? decodeResponse(name, body) : chat.decodeResponse(body, request),
    createStreamDecoder: (request) =>
      request.wire?.format === WIRE_FORMAT
        ? new PayloadStreamDecoder(name, new ResponsesDecoder(name))
        : chat.createStreamDecoder(request),
    remoteMedia: (request) =>
      request.wire?.format === WIRE_FORMAT ? NO_URLS : (chat.remoteMedia?.(request) ?? NO_URLS),
  };
}
