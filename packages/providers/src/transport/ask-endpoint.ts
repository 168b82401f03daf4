// A failed upstream fails the call; no retry but with another key.
import type { TakenSlots } from '@llm0/core/routing/places/slots';
import type { Provider } from '../provider';
import type { AnswerRoom } from '../provider-call';
import type { EncodeContext, EndpointRequest, ProviderConnection } from '../provider-request';
import { askWithKeys } from './ask-with-keys';
import { type FetchedAnswer, fetchUpstream } from './fetch-upstream';
import type { KeyRing } from './key-ring';
import { readWhole, UpstreamBody } from './read-body';
import { readFailure } from './read-failure';
import { withTrace } from './with-trace';

/** A call of an endpoint other than chat. */
export interface EndpointCall {
  readonly provider: Provider;
  readonly context: EncodeContext;
  /** Milliseconds for all of it. */
  readonly timeoutMs: number;
  /** Milliseconds to connect. */
  readonly connectTimeoutMs?: number | undefined;
  /** More bytes than this, decompressed, are no answer. */
  readonly maxAnswerBytes: number;
  readonly signal: AbortSignal;
  readonly fetch: typeof globalThis.fetch;
  readonly keys?: KeyRing | undefined;
  /** See `ProviderCall`. */
  readonly slots?: TakenSlots | undefined;
  /** Headers that name the trace it is part of. */
  readonly trace?: Readonly<Record<string, string>> | undefined;
  readonly room?: AnswerRoom | undefined;
  /** Called right before a request is sent: it may be billed afterwards. */
  readonly onSend?: (() => void) | undefined;
}

/** A 2xx answer, of which nothing or all is read. */
export interface EndpointAnswer extends FetchedAnswer {
  readonly dropped: readonly string[];
  /** Milliseconds left for the rest. */
  readonly leftMs: number;
}

export interface Exchange<T> {
  encode(context: EncodeContext): EndpointRequest;
  read(answer: EndpointAnswer): Promise<T>;
}

/** Sends one request, and reads its answer if it is a 2xx. Throws the vendor's error otherwise. */
export function askEndpoint<T>(call: EndpointCall, exchange: Exchange<T>): Promise<T> {
  const { keys, timeoutMs, context, slots } = call;
  if (keys === undefined) return askOnce(call, exchange, { connection: context.connection, timeoutMs });
  return askWithKeys(keys, { provider: call.provider.name, timeoutMs, slots }, (connection, leftMs) =>
    askOnce(call, exchange, { connection, timeoutMs: leftMs }),
  );
}

interface Asked {
  readonly connection: ProviderConnection;
  readonly timeoutMs: number;
}

async function askOnce<T>(
  call: EndpointCall,
  { encode, read }: Exchange<T>,
  { connection, timeoutMs }: Asked,
): Promise<T> {
  const { provider, signal } = call;
  const startedMs = performance.now();
  const request = encode({ ...call.context, connection });
  call.onSend?.();
  const fetched = await fetchUpstream({
    provider: provider.name,
    request: withTrace(request, call.trace),
    ...{ timeoutMs, connectTimeoutMs: call.connectTimeoutMs, signal, fetch: call.fetch },
  });
  if (!fetched.response.ok) throw await readFailure(fetched.response, { provider, connection, signal });
  const leftMs = Math.max(1, timeoutMs - (performance.now() - startedMs));
  return read({ ...fetched, dropped: request.dropped, leftMs });
}

/** All bytes of an answer. */
export async function readAll(call: EndpointCall, { bytes, response, leftMs }: EndpointAnswer): Promise<Uint8Array[]> {
  if (bytes !== undefined) return [bytes];
  const { maxAnswerBytes: maxBytes, signal, room } = call;
  const options = { provider: call.provider.name, idleTimeoutMs: leftMs, maxBytes, room, signal };
  const body = new UpstreamBody(response.body, options);
  try {
    return await readWhole(body, room);
  } finally {
    body.close();
  }
}
