import type { JsonObject } from '@llm0/core/chat/json';

/** What the fake vendor does with batches, beside answering all lines. */
export interface BatchVendorBehaviour {
  /** Lines (by their number) that it tells twice, never runs, or refuses. */
  readonly twice?: readonly number[];
  readonly lost?: readonly number[];
  readonly refused?: readonly number[];
  /** It takes no batches at all. */
  readonly isClosed?: boolean;
  /** It goes on until it is cancelled. */
  readonly isEndless?: boolean;
  /** A cancelled one goes on for a while. */
  readonly isSlowToCancel?: boolean;
  /** It answers cancellations with 503, and does nothing. */
  readonly isAwayToCancel?: boolean;
  /** It takes a batch, but a proxy before it answers 502. */
  readonly losesAnswer?: boolean;
}

interface Line {
  readonly custom_id: string;
  readonly body?: JsonObject;
  readonly params?: JsonObject;
}

/** A line of Gemini's files. */
interface KeyedLine {
  readonly key: string;
  readonly request: JsonObject;
}

export interface BatchVendor {
  readonly url: string;
  behaviour: BatchVendorBehaviour;
  /** Batches that it took, and chat requests beside them. */
  readonly batches: number;
  readonly asked: number;
  /** Cancellations that it was sent, and looks at batches. */
  readonly cancels: number;
  readonly reads: number;
  stop(): Promise<void>;
}

const USAGE = { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 };

/** Speaks OpenAI's, Anthropic's and Gemini's chat and batches: each answer costs 100 tokens in and 50 out. */
export function startBatchVendor(): BatchVendor {
  const files = new Map<string, string>();
  const batches = new Map<
    string,
    { readonly lines: readonly Line[]; readonly own: JsonObject; isCancelled: boolean }
  >();
  const state = { behaviour: {} as BatchVendorBehaviour, asked: 0, cancels: 0, reads: 0 };
  const numberOf = ({ custom_id: id }: Line) => Number(id);
  const ranOf = (id: string) => {
    const { twice = [], lost = [] } = state.behaviour;
    const { lines = [], isCancelled = false } = batches.get(id) ?? {};
    const ran = lines.filter((line) => !lost.includes(numberOf(line)) && !(isCancelled && numberOf(line) > 0));
    // In any order.
    return [...ran, ...ran.filter((line) => twice.includes(numberOf(line)))].toReversed();
  };
  const isRefused = (line: Line) => state.behaviour.refused?.includes(numberOf(line)) === true;
  const chat = (model: unknown) => ({
    ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model, usage: USAGE },
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'hi' } }],
  });
  const message = (model: unknown) => ({
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model, stop_reason: 'end_turn', stop_sequence: null },
    ...{ content: [{ type: 'text', text: 'hi' }], usage: { input_tokens: 100, output_tokens: 50 } },
  });
  const isEnded = (id: string) =>
    state.behaviour.isEndless !== true ||
    (batches.get(id)?.isCancelled === true && state.behaviour.isSlowToCancel !== true);
  const openaiBatch = (id: string) => ({
    ...{ id, object: 'batch', ...batches.get(id)?.own },
    status: isEnded(id) ? (batches.get(id)?.isCancelled ? 'cancelled' : 'completed') : 'in_progress',
    ...(isEnded(id) ? { output_file_id: `out-${id}`, error_file_id: `err-${id}` } : {}),
  });
  const messageBatch = (id: string) => ({
    id,
    type: 'message_batch',
    processing_status: isEnded(id) ? 'ended' : 'in_progress',
  });
  const add = (lines: readonly Line[], own: JsonObject): string => {
    const id = `vendor-${batches.size}`;
    batches.set(id, { lines, own, isCancelled: false });
    return id;
  };
  const failing = (status: number) => new Response('{"error":{"message":"away"}}', { status });
  const cancel = (id: string, show: (id: string) => object): Response => {
    state.cancels += 1;
    if (state.behaviour.isAwayToCancel === true) return failing(503);
    const batch = batches.get(id);
    if (batch !== undefined) batch.isCancelled = true;
    return Response.json(show(id));
  };
  const taken = (batch: object): Response =>
    state.behaviour.losesAnswer === true ? failing(502) : Response.json(batch);
  const openaiResults = (id: string, wantsRefused: boolean) =>
    ranOf(id)
      .filter((line) => isRefused(line) === wantsRefused)
      .map((line) => {
        const body = wantsRefused
          ? { error: { message: 'No.', type: 'invalid_request_error' } }
          : chat(line.body?.model);
        return JSON.stringify({
          custom_id: line.custom_id,
          response: { status_code: wantsRefused ? 400 : 200, body },
          error: null,
        });
      })
      .join('\n');
  const anthropicResults = (id: string) =>
    ranOf(id)
      .map((line) => {
        const error = { type: 'error', error: { type: 'invalid_request_error', message: 'No.' } };
        const result = isRefused(line)
          ? { type: 'errored', error }
          : { type: 'succeeded', message: message(line.params?.model) };
        return JSON.stringify({ custom_id: line.custom_id, result });
      })
      .join('\n');
  const content = {
    candidates: [{ index: 0, finishReason: 'STOP', content: { role: 'model', parts: [{ text: 'hi' }] } }],
    usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 50, totalTokenCount: 150 },
  };
  const operation = (id: string) => ({
    name: `batches/${id}`,
    metadata: { ...batches.get(id)?.own, state: isEnded(id) ? 'BATCH_STATE_SUCCEEDED' : 'BATCH_STATE_RUNNING' },
    done: isEnded(id),
    ...(isEnded(id) ? { response: { responsesFile: `files/out-${id}` } } : {}),
  });
  const contentResults = (id: string) =>
    ranOf(id)
      .map((line) => {
        const answer = isRefused(line) ? { error: { code: 3, message: 'No.' } } : { response: content };
        return JSON.stringify({ key: line.custom_id, ...answer });
      })
      .join('\n');
  const createContentBatch = async (request: Request) => {
    const { batch } = (await request.json()) as {
      readonly batch: { readonly displayName: string; inputConfig: JsonObject };
    };
    const text = files.get(String(batch.inputConfig.fileName)) ?? '';
    const keyed = text.split('\n').map((line) => JSON.parse(line) as KeyedLine);
    const lines = keyed.map(({ key, request: body }) => ({ custom_id: key, body }));
    return taken(operation(add(lines, { displayName: batch.displayName })));
  };
  const served = (answer: (request: Bun.BunRequest) => Response | Promise<Response>) => (request: Bun.BunRequest) =>
    state.behaviour.isClosed === true ? failing(404) : answer(request);
  const idOf = (request: Bun.BunRequest) => (request.params as { id?: string }).id ?? '';
  const asking = (answer: (model: unknown) => object) => async (request: Request) => {
    state.asked += 1;
    return Response.json(answer(((await request.json()) as JsonObject).model));
  };
  const server = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1' },
    routes: {
      '/v1/chat/completions': { POST: asking(chat) },
      '/v1/messages': { POST: asking(message) },
      '/v1beta/models/:id': {
        POST: async (request) => {
          if (!idOf(request).endsWith(':batchGenerateContent')) return asking(() => content)(request);
          return served(createContentBatch)(request);
        },
      },
      '/upload/v1beta/files': {
        POST: served(async (request) => {
          if (request.headers.get('x-goog-upload-command') === 'start')
            return Response.json({}, { headers: { 'x-goog-upload-url': `${request.url}?upload_id=1` } });
          const name = `files/${files.size}`;
          files.set(name, await request.text());
          return Response.json({ file: { name } });
        }),
      },
      '/v1beta/batches': { GET: () => Response.json({ operations: [...batches.keys()].map(operation) }) },
      '/v1beta/batches/:id': (request) => {
        const id = idOf(request).replace(/:cancel$/, '');
        return idOf(request) === id ? Response.json(operation(id)) : cancel(id, operation);
      },
      '/download/v1beta/files/:id': (request) =>
        new Response(
          contentResults(
            idOf(request)
              .replace(/^out-/, '')
              .replace(/:download$/, ''),
          ),
        ),
      '/v1/files': {
        POST: served(async (request) => {
          const file = (await request.formData()).get('file');
          const id = `file-${files.size}`;
          files.set(id, file instanceof Blob ? await file.text() : '');
          return Response.json({ id, object: 'file' });
        }),
      },
      '/v1/files/:id/content': (request) => {
        const [kind, id] = [idOf(request).slice(0, 3), idOf(request).slice(4)];
        return new Response(openaiResults(id, kind === 'err'));
      },
      '/v1/batches': {
        GET: () => Response.json({ data: [...batches.keys()].map(openaiBatch) }),
        POST: served(async (request) => {
          const { input_file_id: file, ...own } = (await request.json()) as JsonObject;
          const lines = (files.get(String(file)) ?? '').split('\n').map((line) => JSON.parse(line) as Line);
          return taken(openaiBatch(add(lines, own)));
        }),
      },
      '/v1/batches/:id': (request) => {
        state.reads += 1;
        return Response.json(openaiBatch(idOf(request)));
      },
      '/v1/batches/:id/cancel': (request) => cancel(idOf(request), openaiBatch),
      '/v1/messages/batches': {
        POST: served(async (request) => {
          const { requests } = (await request.json()) as { readonly requests: readonly Line[] };
          return taken(messageBatch(add(requests, {})));
        }),
      },
      '/v1/messages/batches/:id': (request) => Response.json(messageBatch(idOf(request))),
      '/v1/messages/batches/:id/cancel': (request) => cancel(idOf(request), messageBatch),
      '/v1/messages/batches/:id/results': (request) => new Response(anthropicResults(idOf(request))),
    },
    fetch: () => new Response('{}', { status: 404 }),
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    get behaviour() {
      return state.behaviour;
    },
    set behaviour(next: BatchVendorBehaviour) {
      state.behaviour = next;
    },
    get batches() {
      return batches.size;
    },
    get asked() {
      return state.asked;
    },
    get cancels() {
      return state.cancels;
    },
    get reads() {
      return state.reads;
    },
    stop: () => server.stop(true),
  };
}
