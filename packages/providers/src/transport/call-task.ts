import type { JsonBounds } from '@llm0/core/chat/json-bounds';
import type { TaskRequest } from '@llm0/core/tasks/task-request';
import type { TaskAnswer, TaskPart, TaskStreamReader } from '../tasks';
import { parseAnswer, prepareAnswer } from '../translation/read-json';
import { askEndpoint, type EndpointAnswer, type EndpointCall, readAll } from './ask-endpoint';
import { UpstreamBody } from './read-body';
import { upstreamFailure } from './upstream-failure';

export type { TaskAnswer, TaskName, TaskPart, TaskParts } from '../tasks';

export interface TaskCall<R extends TaskRequest, A> extends EndpointCall {
  readonly part: TaskPart<R, A>;
  readonly request: R;
  /** Longest silence within a stream, in milliseconds. */
  readonly idleTimeoutMs: number;
}

/** A stream that has begun, in the caller's format. */
export interface TaskStream {
  /** The next bytes; undefined at a complete end. Throws the vendor's error, and `truncated`. */
  next(): Promise<Uint8Array | undefined>;
  readonly reader: TaskStreamReader;
  /** True once `next` gave the last bytes. */
  isAll(): boolean;
  close(): void;
}

/** Either all of an answer or its stream. */
export interface CalledTask<A> {
  readonly whole?: TaskAnswer<A>;
  readonly stream?: TaskStream;
  readonly dropped: readonly string[];
}

/** Answers are a few fields around long texts. */
const BOUNDS: JsonBounds = { maxTokens: 1_000_000, maxParts: 250_000 };

/** One attempt at one provider. A stream is there with its first output. */
export function callTask<R extends TaskRequest, A>(call: TaskCall<R, A>): Promise<CalledTask<A>> {
  const { part, request, provider } = call;
  return askEndpoint(call, {
    encode: (context) => part.encodeRequest(request, context),
    read: async (fetched) => {
      const { dropped, response } = fetched;
      const type = response.headers.get('content-type') ?? '';
      const isStream = request.stream && (type.startsWith('text/event-stream') || part.sendsBytes === true);
      const reader = isStream ? part.createStreamReader?.(request, type) : undefined;
      const { bytes: whole } = fetched;
      if (reader !== undefined && whole !== undefined) return { dropped, stream: wholeStream(call, whole, reader) };
      if (reader !== undefined) return { dropped, stream: await openStream(call, fetched, reader) };
      if (part.decodeBytes !== undefined) {
        const bytes = Buffer.concat(await readAll(call, fetched));
        return { dropped, whole: part.decodeBytes(bytes, type, request) };
      }
      const body = await prepareAnswer(await readAll(call, fetched), BOUNDS);
      return { dropped, whole: part.decodeResponse(parseAnswer(provider.name, body), request) };
    },
  });
}

/** Waits for the first output, so that another target may answer after an early error. */
async function openStream<R extends TaskRequest, A>(
  call: TaskCall<R, A>,
  { response, leftMs }: EndpointAnswer,
  reader: TaskStreamReader,
): Promise<TaskStream> {
  const { provider, idleTimeoutMs, signal, room } = call;
  const timeouts = { idleTimeoutMs, firstTimeoutMs: leftMs };
  const body = new UpstreamBody(response.body, { provider: provider.name, ...timeouts, room, signal });
  const first: Uint8Array[] = [];
  const receive = async () => {
    for (let bytes = await body.read(); bytes !== undefined; bytes = await body.read()) {
      const shown = reader.push(bytes) ?? bytes;
      if (shown.byteLength > 0) return shown;
    }
    if (reader.isComplete) return undefined;
    throw brokenOff(provider.name);
  };
  try {
    while (!reader.isBegun) {
      const bytes = await receive();
      if (bytes === undefined) break;
      first.push(bytes);
    }
  } catch (error) {
    body.close();
    throw error;
  }
  return {
    next: async () => first.shift() ?? receive(),
    reader,
    isAll: () => first.length === 0 && reader.isAll,
    close: () => body.close(),
  };
}

/** A stream that is there already. */
function wholeStream<R extends TaskRequest, A>(
  { provider }: TaskCall<R, A>,
  bytes: Uint8Array,
  reader: TaskStreamReader,
): TaskStream {
  let shown: Uint8Array | undefined = reader.push(bytes) ?? bytes;
  if (!reader.isComplete) throw brokenOff(provider.name);
  const next = async () => {
    const all = shown;
    shown = undefined;
    return all;
  };
  return { next, reader, isAll: () => shown === undefined, close: () => {} };
}

const brokenOff = (provider: string) =>
  upstreamFailure('truncated', provider, 'ended its stream before it was complete.');
