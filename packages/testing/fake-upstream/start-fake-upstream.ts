import type { JsonObject } from '@llm0/core/chat/json';
import { applyControl } from './apply-control';
import { type FakeBehaviour, requestedBehaviour } from './behaviour';
import { Bill, type Billed, limitOf } from './bill';
import type { FakeControl, FakeCounters, FakeUpstream, FakeUpstreamOptions, RecordedRequest } from './fake-control';
import { withForcedTool } from './forced-tool';
import type { AnswerContext } from './render-answer';
import { FAKE_EMBEDDINGS, type FakeEmbeddings, type FakeEmbeddingVendor } from './render-embeddings';
import { renderModels } from './render-openai';
import { ordinaryAnswer, scriptedAnswer } from './serve-answer';
import { type FakeTask, geminiTask, readFields, serveTask, taskRoutes } from './serve-task';

export type { FakeControl, FakeUpstream };

const FAKE_COUNT = 14;

const KEPT = { headers: { 'cache-control': 'max-age=3600' } } as const;
const plainAnswer = ({ url }: Request) => ({
  q: new URL(url).searchParams.get('q'),
  scores: [0.25, 0.5, 0.125],
  ok: true,
});

/** Starts a vendor on a free port that speaks the APIs of several: its base URL is the others' host root, without `/v1`. */
export function startFakeUpstream(options: FakeUpstreamOptions = {}): FakeUpstream {
  return new FakeServer(options);
}

/** Whose words errors are in. */
const EMBEDDING_ERRORS = {
  openai: 'openai-chat',
  gemini: 'gemini-content',
  bedrock: 'bedrock-converse',
  cohere: 'cohere-chat',
} as const satisfies Record<FakeEmbeddingVendor, AnswerContext['format']>;

type Asked = Pick<ChatCall, 'request' | 'body'> & {
  readonly model: string;
  readonly queued: FakeBehaviour | undefined;
};

interface ChatCall {
  readonly request: Request;
  readonly body: JsonObject;
  readonly stream: boolean;
  readonly context: AnswerContext;
}

function withinLimit(behaviour: FakeBehaviour | undefined, body: JsonObject): FakeBehaviour | undefined {
  const { obeysLimit, usage } = behaviour ?? {};
  if (obeysLimit !== true || usage?.completion === undefined) return behaviour;
  const completion = Math.min(usage.completion, limitOf(body) ?? Number.POSITIVE_INFINITY);
  return { ...behaviour, usage: { ...usage, completion } };
}

function saidBack(behaviour: FakeBehaviour | undefined, body: JsonObject): FakeBehaviour | undefined {
  if (behaviour?.sayBack !== true) return behaviour;
  const turns = [body.messages, body.contents].find(Array.isArray) as JsonObject[] | undefined;
  const last = turns?.at(-1);
  const content = last?.content ?? last?.parts ?? body.prompt ?? '';
  const text = Array.isArray(content)
    ? content.map((part) => (part as JsonObject | null)?.text ?? '').join('')
    : content;
  return { ...behaviour, text: `<${String(text)}>` };
}

class FakeServer implements FakeUpstream, FakeControl {
  readonly requests: RecordedRequest[] = [];
  readonly counters: FakeCounters = { received: 0, waiting: 0, cancelled: 0, completed: 0 };
  private readonly bill = new Bill();
  private readonly byModel = new Map<string, FakeBehaviour>();
  private queue: FakeBehaviour[] = [];
  private fallback: FakeBehaviour = {};
  private gate: PromiseWithResolvers<void> | undefined;
  private readonly stopping = Promise.withResolvers<void>();
  private readonly server: Bun.Server<undefined>;

  constructor(private readonly options: FakeUpstreamOptions) {
    this.server = Bun.serve({
      port: options.port ?? 0,
      hostname: options.hostname ?? '127.0.0.1',
      idleTimeout: 0,
      routes: {
        '/v1/chat/completions': { POST: (request) => this.answerOpenai(request) },
        '/v1/completions': { POST: (request) => this.answerCompletions(request) },
        '/beta/completions': { POST: (request) => this.answerCompletions(request) },
        '/openai/deployments/:model/completions': { POST: (request) => this.answerCompletions(request) },
        // Fills in the middle, and answers as chat does.
        '/v1/fim/completions': { POST: (request) => this.answerOpenai(request) },
        '/v1/responses': { POST: (request) => this.answerIn('openai-responses', request) },
        '/v1/messages': { POST: (request) => this.answerIn('anthropic-messages', request) },
        '/v1/messages/count_tokens': { POST: (request) => this.countAnthropic(request) },
        '/v2/chat': { POST: (request) => this.answerIn('cohere-chat', request) },
        '/v2/embed': { POST: (request) => this.answerEmbeddings(request, 'cohere') },
        '/v1/embeddings': { POST: (request) => this.answerEmbeddings(request, 'openai') },
        '/openai/deployments/:model/embeddings': { POST: (request) => this.answerEmbeddings(request, 'openai') },
        ...taskRoutes((request, path) => this.answerTask(request, path)),
        '/v1beta/models/:call': { POST: (request) => this.answerGemini(request) },
        '/v1/models/:call': { POST: (request) => this.answerGemini(request) },
        '/model/:model/:method': { POST: (request) => this.answerBedrock(request) },
        '/v1/models': () => Response.json(renderModels(this.options.models)),
        // A plain HTTP service.
        '/infer/bench/:name': (request) => Response.json(plainAnswer(request), KEPT),
        '/control': { POST: async (request) => applyControl(this, (await request.json()) as JsonObject) },
        '/counters': () => Response.json(this.counters),
        '/billed': () => Response.json(this.billed()),
      },
      fetch: () => Response.json({ error: { message: 'no such path', type: 'fake_error' } }, { status: 404 }),
    });
  }

  get control(): FakeControl {
    return this;
  }

  get port(): number {
    return this.server.port ?? 0;
  }

  get url(): string {
    return `http://${this.options.hostname ?? '127.0.0.1'}:${this.port}`;
  }

  get baseUrl(): string {
    return `${this.url}/v1`;
  }

  async stop(): Promise<void> {
    this.release();
    this.stopping.resolve();
    await this.server.stop(true);
  }

  setDefault(behaviour: FakeBehaviour): void {
    this.fallback = behaviour;
  }

  setModel(model: string, behaviour: FakeBehaviour): void {
    this.byModel.set(model, behaviour);
  }

  enqueue(...behaviours: readonly FakeBehaviour[]): void {
    this.queue.push(...behaviours);
  }

  hold(): void {
    this.gate ??= Promise.withResolvers<void>();
  }

  release(): void {
    this.gate?.resolve();
    this.gate = undefined;
  }

  reset(): void {
    this.release();
    this.queue = [];
    this.byModel.clear();
    this.fallback = {};
    this.requests.length = 0;
    this.bill.clear();
    Object.assign(this.counters, { received: 0, waiting: 0, cancelled: 0, completed: 0 });
  }

  billed(): readonly Billed[] {
    return this.bill.list();
  }

  private async answerOpenai(request: Request): Promise<Response> {
    const body = (await request.json()) as JsonObject;
    const streamOptions = body.stream_options as JsonObject | undefined;
    const includeUsage = streamOptions?.include_usage === true;
    const context: AnswerContext = { format: 'openai-chat', model: String(body.model), includeUsage };
    return this.answerChat({ request, body, stream: body.stream === true, context });
  }

  private async answerCompletions(request: Request): Promise<Response> {
    const body = (await request.json()) as JsonObject;
    const streamOptions = body.stream_options as JsonObject | undefined;
    const { prompt = '' } = body;
    const isList = Array.isArray(prompt) && typeof prompt[0] !== 'number';
    const context: AnswerContext = {
      format: 'openai-completions',
      model: String(body.model),
      includeUsage: streamOptions?.include_usage === true,
      ...{ prompts: isList ? prompt : [prompt], echo: body.echo === true },
    };
    return this.answerChat({ request, body, stream: body.stream === true, context });
  }

  private async answerIn(format: AnswerContext['format'], request: Request): Promise<Response> {
    const body = (await request.json()) as JsonObject;
    const context: AnswerContext = { format, model: String(body.model), includeUsage: true };
    return this.answerChat({ request, body, stream: body.stream === true, context });
  }

  /** As many tokens as `usage.prompt` says; like the vendor it takes nothing that only an answer needs. */
  private async countAnthropic(request: Request): Promise<Response> {
    const body = (await request.json()) as JsonObject;
    this.record(request, body);
    const behaviour = this.behaviourOf({ request, body, model: String(body.model), queued: this.queue.shift() });
    const isRefused = body.max_tokens !== undefined || body.stream !== undefined || (behaviour.status ?? 200) !== 200;
    if (!isRefused) return Response.json({ input_tokens: behaviour.usage?.prompt ?? FAKE_COUNT });
    const error = { type: 'invalid_request_error', message: 'Extra inputs are not permitted' };
    return Response.json({ type: 'error', error }, { status: behaviour.status ?? 400 });
  }

  /** The model and the method are in the path: `gemini-x:streamGenerateContent`. */
  private async answerGemini(request: Bun.BunRequest<`/${'v1' | 'v1beta'}/models/:call`>): Promise<Response> {
    const [model = '', method] = request.params.call.split(':');
    if (method === 'batchEmbedContents') return this.answerEmbeddings(request, 'gemini');
    const task = geminiTask(request.params.call);
    if (task !== undefined) return this.answerTask(request, task);
    const body = (await request.json()) as JsonObject;
    if (method === 'countTokens') {
      this.record(request, body);
      return Response.json({ totalTokens: FAKE_COUNT });
    }
    const context: AnswerContext = { format: 'gemini-content', model, includeUsage: true };
    return this.answerChat({ request, body, stream: method === 'streamGenerateContent', context });
  }

  private async answerBedrock(request: Bun.BunRequest<'/model/:model/:method'>): Promise<Response> {
    const { model, method } = request.params;
    if (method === 'invoke' && /rerank|canvas/.test(model)) return this.answerTask(request, 'invoke');
    if (method === 'invoke') return this.answerEmbeddings(request, 'bedrock');
    const body = (await request.json()) as JsonObject;
    const context: AnswerContext = { format: 'bedrock-converse', model: decodeURIComponent(model), includeUsage: true };
    return this.answerChat({ request, body, stream: method === 'converse-stream', context });
  }

  private async answerEmbeddings(request: Request, vendor: FakeEmbeddingVendor): Promise<Response> {
    const body = (await request.json()) as JsonObject;
    const format = EMBEDDING_ERRORS[vendor];
    const context: AnswerContext = { format, model: String(body.model), includeUsage: true };
    const refusal = await this.answerChat({ request, body, stream: false, context });
    if (refusal.status !== 200) return refusal;
    const { usage } = requestedBehaviour(body, request.headers);
    const render: (body: JsonObject, tokens?: number) => FakeEmbeddings = FAKE_EMBEDDINGS[vendor];
    const { body: answer, headers } = render(body, usage?.prompt);
    return Response.json(answer, { headers });
  }

  private async answerTask(request: Request, path: FakeTask): Promise<Response> {
    const body = await readFields(request);
    // `answerChat` takes the queued one.
    const behaviour = this.behaviourOf({ request, body, model: String(body.model), queued: this.queue[0] });
    const stream = body.stream === true || body.stream === 'true';
    const context: AnswerContext = { format: 'openai-chat', model: String(body.model), includeUsage: true };
    const answered = await this.answerChat({ request, body, stream: false, context });
    if (answered.status !== 200 || behaviour.body !== undefined) return answered;
    return serveTask(path, body, { behaviour, stream });
  }

  private async answerChat({ request, body, stream, context: asked }: ChatCall): Promise<Response> {
    this.counters.received += 1;
    if (this.options.record !== false) this.record(request, body);
    const set = this.behaviourOf({ request, body, model: asked.model, queued: this.queue.shift() });
    const chosen = Object.keys(set).length === 0 ? undefined : set;
    const context = { ...asked, model: chosen?.answeredBy ?? asked.model };
    const behaviour = withForcedTool(saidBack(withinLimit(chosen, body), body), context.format, body);
    if (this.options.record !== false)
      this.bill.note(request, body, { model: context.model, behaviour: behaviour ?? {} });
    if (this.gate !== undefined) await this.waitAtGate();
    if (behaviour === undefined) return ordinaryAnswer({ stream, context, counters: this.counters });
    if (behaviour.hang === true) {
      await this.waitForEver(request);
      return new Response(null, { status: 204 });
    }
    const delayMs = (behaviour.firstDelayMs ?? 0) + Math.random() * (behaviour.jitterMs ?? 0);
    if (delayMs > 0) await Bun.sleep(delayMs);
    return scriptedAnswer({ behaviour, stream, context, counters: this.counters, stopped: this.stopping.promise });
  }

  private behaviourOf({ request, body, model, queued }: Asked): FakeBehaviour {
    return { ...this.fallback, ...this.byModel.get(model), ...queued, ...requestedBehaviour(body, request.headers) };
  }

  private record(request: Request, body: JsonObject): void {
    const headers = Object.fromEntries(request.headers);
    const { pathname, searchParams } = new URL(request.url);
    this.requests.push({ path: pathname, query: Object.fromEntries(searchParams), headers, body });
  }

  private async waitAtGate(): Promise<void> {
    this.counters.waiting += 1;
    await this.gate?.promise;
    this.counters.waiting -= 1;
  }

  private waitForEver(request: Request): Promise<void> {
    return new Promise((resolve) => {
      request.signal.addEventListener('abort', () => {
        this.counters.cancelled += 1;
        resolve();
      });
      void this.stopping.promise.then(resolve);
    });
  }
}
