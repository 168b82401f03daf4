import type { JsonObject } from '@llm0/core/chat/json';
import type { Usage } from '@llm0/core/chat/usage';
import { SseDecoder } from '@llm0/core/sse/decode-sse';
import type { TaskStreamReader } from '../../tasks';
import { asString, parseEventData } from '../../translation/read-json';
import { decodeErrorObject } from '../decode-error';

interface EventReaderOptions {
  readonly provider: string;
  /** Type of the last event, which tells the usage. */
  readonly last: string;
  readonly usageOf: (event: JsonObject) => Usage | undefined;
  /** What the caller gets of an event, instead of the events; with the Content-Type of it all. */
  readonly unwrapped?: { readonly type: string; readonly bytesOf: (event: JsonObject) => Uint8Array | undefined };
}

/** Reads events of a kind that ends with its usage. */
export function createEventReader({ provider, last, usageOf, unwrapped }: EventReaderOptions): TaskStreamReader {
  const decoder = new SseDecoder();
  let [isBegun, isComplete] = [false, false];
  let usage: Usage | undefined;
  const take = (event: JsonObject) => {
    const type = asString(event.type);
    const error = type === 'error' || event.error != null ? decodeErrorObject(provider, event) : undefined;
    if (error !== undefined) throw error;
    if (type === undefined) return;
    isBegun = true;
    if (type !== last) return;
    isComplete = true;
    usage = usageOf(event);
  };
  return {
    push(chunk) {
      const out: Uint8Array[] = [];
      for (const { data } of decoder.push(chunk)) {
        if (data === '[DONE]') continue;
        const event = parseEventData(provider, data);
        take(event);
        const bytes = unwrapped?.bytesOf(event);
        if (bytes !== undefined) out.push(bytes);
      }
      return unwrapped === undefined ? undefined : Buffer.concat(out);
    },
    get isBegun() {
      return isBegun;
    },
    get isComplete() {
      return isComplete;
    },
    get isAll() {
      return isComplete;
    },
    get usage() {
      return usage;
    },
    ...(unwrapped === undefined ? {} : { type: unwrapped.type }),
  };
}
