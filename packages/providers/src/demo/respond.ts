import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '@llm0/core/chat/json';
import { encodeSse, SSE_DONE } from '@llm0/core/sse/encode-sse';
import { asObject } from '../translation/read-json';
import { type DemoAnswer, writeAnswer } from './write-answer';

/** Pace of each model: milliseconds before the first chunk and between chunks. */
const PACES: ReadonlyMap<string, { readonly firstMs: number; readonly gapMs: number }> = new Map([
  ['demo-chat', { firstMs: 0, gapMs: 0 }],
  ['demo-slow', { firstMs: 1000, gapMs: 50 }],
]);

/** Chunks handed over at once where no pace is asked for. */
const CHUNKS_PER_PULL = 16;

/** Answers a Chat Completions body in process, as a vendor would over the network. */
export async function respondLocally(bodyText: string, signal: AbortSignal): Promise<Response> {
  const body = JSON.parse(bodyText) as JsonObject;
  const model = String(body.model);
  const pace = PACES.get(model);
  if (pace === undefined) return refuse(404, `The model "${model}" does not exist.`);
  const answer = writeAnswer(body);
  const head = { id: answer.id, created: Math.floor(Date.now() / 1000), model };
  if (body.stream === true) {
    return new Response(streamChunks(writeChunks(answer, head, wantsUsage(body)), pace, signal), {
      headers: { 'content-type': 'text/event-stream' },
    });
  }
  if (pace.firstMs > 0) await sleep(pace.firstMs + pace.gapMs * (answer.pieces.length + 1), undefined, { signal });
  return Response.json(writeWhole(answer, head));
}

function refuse(status: number, message: string): Response {
  return Response.json({ error: { message, type: 'invalid_request_error', code: null, param: 'model' } }, { status });
}

function wantsUsage(body: JsonObject): boolean {
  return asObject(body.stream_options)?.include_usage === true;
}

interface AnswerHead extends JsonObject {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

function writeWhole(answer: DemoAnswer, head: AnswerHead): JsonObject {
  const text = answer.pieces.join('');
  const message: JsonObject = { role: 'assistant', content: answer.toolCalls.length > 0 ? null : text, refusal: null };
  if (answer.toolCalls.length > 0) message.tool_calls = answer.toolCalls.map((call) => call.wire);
  return {
    ...head,
    object: 'chat.completion',
    choices: choiceIndexes(answer).map((index) => ({
      index,
      message,
      logprobs: null,
      finish_reason: answer.finishReason,
    })),
    usage: answer.usage,
  };
}

function choiceIndexes(answer: DemoAnswer): number[] {
  return Array.from({ length: answer.choices }, (_, index) => index);
}

/** All chunks of the streamed answer, as SSE text. */
function writeChunks(answer: DemoAnswer, head: AnswerHead, usage: boolean): string[] {
  const write = (choices: JsonObject[], extra?: JsonObject) =>
    encodeSse(JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, ...extra }));
  const chunks: string[] = [];
  for (const index of choiceIndexes(answer)) {
    const push = (delta: JsonObject, finish: string | null = null) =>
      chunks.push(write([{ index, delta, logprobs: null, finish_reason: finish }]));
    push({ role: 'assistant', content: answer.toolCalls.length > 0 ? null : '' });
    for (const call of answer.toolCalls) {
      const { id, type, function: body } = call.wire;
      push({ tool_calls: [{ index: call.index, id, type, function: { name: body.name, arguments: '' } }] });
      for (const piece of call.pieces) push({ tool_calls: [{ index: call.index, function: { arguments: piece } }] });
    }
    if (answer.toolCalls.length === 0) for (const piece of answer.pieces) push({ content: piece });
    push({}, answer.finishReason);
  }
  if (usage) chunks.push(write([], { usage: answer.usage }));
  chunks.push(SSE_DONE);
  return chunks;
}

function streamChunks(
  chunks: readonly string[],
  pace: { readonly firstMs: number; readonly gapMs: number },
  signal: AbortSignal,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let next = 0;
  let cancelled = false;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const waitMs = next === 0 ? pace.firstMs : pace.gapMs;
        if (waitMs > 0) await sleep(waitMs, undefined, { signal }).catch(() => {});
        if (cancelled) return;
        const upTo = next + (pace.gapMs > 0 ? 1 : CHUNKS_PER_PULL);
        controller.enqueue(encoder.encode(chunks.slice(next, upTo).join('')));
        next = upTo;
        if (next >= chunks.length) controller.close();
      },
      cancel() {
        cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
}
