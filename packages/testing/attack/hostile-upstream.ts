import { createServer, type Socket } from 'node:net';
import { type AnswerContext, renderPlain, renderStream, streamHeaders } from '../fake-upstream/render-answer';
import { FAKE_EMBEDDINGS } from '../fake-upstream/render-embeddings';
import { FAKE_TASKS, imageEvents, type RenderTask } from '../fake-upstream/render-tasks';
import { HostileWire, readCall, type VendorCall } from './hostile-wire';
import { type BillLine, billFor, modelOf, type Work } from './vendor-bill';

/** How the vendor answers while one attack is played. */
export interface HostileAnswer extends Work {
  play(wire: HostileWire, call: VendorCall): Promise<void>;
  /** Refused with a status that no vendor bills. */
  readonly isFree?: true;
}

export interface HostileUpstream {
  readonly url: string;
  /** What came in since the last attack, oldest first. */
  readonly calls: readonly VendorCall[];
  /** What it would bill for them. */
  readonly bill: readonly BillLine[];
  /** Forgets what was, breaks what is open, and answers so from now on. */
  expect(answer: HostileAnswer): void;
  stop(): Promise<void>;
}

/** Tokens of an honest answer. */
export const HONEST_TOKENS = 20;
export const HONEST: HostileAnswer = { outputTokens: HONEST_TOKENS, play: (wire, call) => answerHonestly(wire, call) };
/** Counting, listing and looking up are free everywhere. */
const FREE_PATH = /\/count_tokens|:countTokens|\/models$/;

/** A vendor on a free port that speaks all APIs, and does as it is told. */
export async function startHostileUpstream(): Promise<HostileUpstream> {
  let answer = HONEST;
  let calls: VendorCall[] = [];
  let bill: BillLine[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    const wire = new HostileWire(socket);
    readCall(socket, (call) => {
      calls.push(call);
      if (call.method === 'POST' && answer.isFree !== true && !FREE_PATH.test(call.path)) {
        bill.push(billFor(call, answer));
      }
      void answer.play(wire, call).catch(() => wire.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const breakAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    get calls() {
      return calls;
    },
    get bill() {
      return bill;
    },
    expect: (next) => {
      breakAll();
      [calls, bill, answer] = [[], [], next];
    },
    stop: async () => {
      breakAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const FORMATS: readonly (readonly [RegExp, AnswerContext['format']])[] = [
  [/\/chat\/completions/, 'openai-chat'],
  [/\/completions/, 'openai-completions'],
  [/\/responses/, 'openai-responses'],
  [/\/messages/, 'anthropic-messages'],
  [/:\w+/, 'gemini-content'],
];

/** The answer as this path's vendor gives it: the pieces of a stream, or one piece. */
export function honestPieces(call: VendorCall, text?: string): { pieces: Uint8Array[]; type: string } {
  const json = (value: unknown) => ({ pieces: [Buffer.from(JSON.stringify(value))], type: 'application/json' });
  const { body, path } = call;
  if (/\/embeddings/.test(path)) return json(FAKE_EMBEDDINGS.openai(body, tokensIn(call)).body);
  if (/mbedContent/.test(path)) return json(FAKE_EMBEDDINGS.gemini(body, tokensIn(call)).body);
  const task = (FAKE_TASKS as Readonly<Record<string, RenderTask>>)[path];
  // Forms have no body here, and go on as others.
  if (task !== undefined && body.model !== undefined) {
    if (body.stream !== true) return json(task(body, {}));
    const events = imageEvents('image_generation', body, {});
    return { pieces: events.map((event) => Buffer.from(event)), type: 'text/event-stream' };
  }
  const format = FORMATS.find(([pattern]) => pattern.test(path))?.[1];
  if (format === undefined || FREE_PATH.test(path)) return json({ data: [], input_tokens: 1, totalTokens: 1 });
  const prompt = typeof body.prompt === 'string' ? [body.prompt] : undefined;
  const context: AnswerContext = { format, model: modelOf(call), includeUsage: tellsUsage(call), prompts: prompt };
  const behaviour = { text, chunks: HONEST_TOKENS, usage: { prompt: tokensIn(call), completion: HONEST_TOKENS } };
  const isStream = body.stream === true || /:stream/.test(path);
  if (!isStream) return { pieces: [Buffer.from(renderPlain(behaviour, context))], type: 'application/json' };
  return { pieces: renderStream(behaviour, context), type: streamHeaders(context)['content-type'] ?? '' };
}

/** OpenAI's formats tell it in streams only where they are asked to. */
function tellsUsage({ path, body }: VendorCall): boolean {
  if (!/\/completions/.test(path)) return true;
  const { stream_options: options } = body;
  return typeof options === 'object' && options !== null && 'include_usage' in options;
}

const tokensIn = (call: VendorCall) => billFor(call, {}).inputTokens;

async function answerHonestly(wire: HostileWire, call: VendorCall): Promise<void> {
  const { pieces, type } = honestPieces(call);
  await wire.head('200 OK', { 'content-type': type });
  for (const piece of pieces) await wire.send(piece);
  wire.end();
}
