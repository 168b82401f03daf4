import type { ChatRequest, WireRequest } from '@llm0/core/chat/request';
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
      const wire = ownWire(request);
      return wire === undefined ? chat.encodeRequest(request, context) : encodeRequest(wire, request, context);
    },
    decodeResponse: (body, request) =>
      ownWire(request) === undefined ? chat.decodeResponse(body, request) : decodeResponse(name, body),
    createStreamDecoder: (request) =>
      ownWire(request) === undefined
        ? chat.createStreamDecoder(request)
        : new PayloadStreamDecoder(name, new ResponsesDecoder(name)),
    remoteMedia: (request) => (ownWire(request) === undefined ? (chat.remoteMedia?.(request) ?? NO_URLS) : NO_URLS),
  };
}

function ownWire({ wire }: ChatRequest): WireRequest | undefined {
  return wire?.format === WIRE_FORMAT ? wire : undefined;
}
