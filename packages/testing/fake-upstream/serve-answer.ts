import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { FakeBehaviour } from './behaviour';
import { hostileAnswer } from './hostile-answer';
import {
  type AnswerContext,
  FAKE_FORMATS,
  renderPlain,
  renderStream,
  renderStreamError,
  streamHeaders,
} from './render-answer';

/** What the server counts while it answers. */
export interface AnswerCounters {
  /** Answers whose reader left before their end. */
  cancelled: number;
  completed: number;
}

const JSON_HEADERS = { 'content-type': 'application/json' };
/** Lets a busy reader take the bytes so far before the connection is broken: a reset throws away what was not read. */
const BEFORE_RESET_MS = 100;

/** Ordinary answers by kind and model, as the bytes of each write: nothing is rendered twice. */
const rendered = new Map<string, readonly Uint8Array[]>();
const MAX_RENDERED = 1000;

/** The ordinary answer, from memory; a stream still goes out chunk by chunk. */
export function ordinaryAnswer(job: Pick<AnswerJob, 'stream' | 'context' | 'counters'>): Response {
  const { stream, context, counters } = job;
  const key = `${context.format}\n${stream}\n${context.includeUsage}\n${context.model}`;
  let pieces = rendered.get(key);
  if (pieces === undefined) {
    pieces = stream ? renderStream({}, context) : [new TextEncoder().encode(renderPlain({}, context))];
    if (rendered.size < MAX_RENDERED) rendered.set(key, pieces);
  }
  if (stream) return new Response(writePieces(pieces, counters), { headers: streamHeaders(context) });
  counters.completed += 1;
  return new Response(pieces[0] as BodyInit, { headers: JSON_HEADERS });
}

/** A scripted stream, rendered once for all requests with the same script: benches ask for thousands of them. */
function renderOnce(behaviour: FakeBehaviour, context: AnswerContext): readonly Uint8Array[] {
  const key = JSON.stringify([context, behaviour]);
  const kept = rendered.get(key);
  if (kept !== undefined) return kept;
  const pieces = renderStream(behaviour, context);
  if (rendered.size < MAX_RENDERED) rendered.set(key, pieces);
  return pieces;
}

function writePieces(pieces: readonly Uint8Array[], counters: AnswerCounters): ReadableStream<Uint8Array> {
  let next = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = pieces[next];
        next += 1;
        if (piece !== undefined) controller.enqueue(piece);
        if (next < pieces.length) return;
        counters.completed += 1;
        controller.close();
      },
      cancel() {
        counters.cancelled += 1;
      },
    },
    { highWaterMark: 0 },
  );
}

export interface AnswerJob {
  readonly behaviour: FakeBehaviour;
  readonly stream: boolean;
  readonly context: AnswerContext;
  readonly counters: AnswerCounters;
  /** Ends waiting for ever when the server stops. */
  readonly stopped: Promise<void>;
}

/** An answer by script. */
export function scriptedAnswer(job: AnswerJob): Response {
  const { behaviour, stream, context } = job;
  const fails = behaviour.failShare !== undefined && Math.random() < behaviour.failShare;
  const status = behaviour.status ?? (fails ? 500 : 200);
  if (behaviour.hostile !== undefined) return hostileAnswer(behaviour.hostile);
  if (behaviour.compress !== undefined) return compressedAnswer(job, behaviour.compress);
  if (behaviour.empty === true) return new Response('', { headers: stream ? streamHeaders(context) : JSON_HEADERS });
  if (behaviour.html === true) {
    return new Response('<html><head><title>Bad gateway</title></head><body><h1>Oops</h1></body></html>', {
      status,
      headers: { 'content-type': 'text/html' },
    });
  }
  if (status !== 200 || behaviour.body !== undefined) return errorAnswer(job, status);
  if (!stream || behaviour.plainForStream === true) {
    return new Response(renderPlain(behaviour, context), { headers: JSON_HEADERS });
  }
  return new Response(streamPieces(job), { headers: streamHeaders(context) });
}

const COMPRESS = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync, zstd: zstdCompressSync } as const;

/** Without being asked for it. */
function compressedAnswer({ behaviour, stream, context }: AnswerJob, encoding: keyof typeof COMPRESS): Response {
  const plain = stream ? Buffer.concat(renderStream(behaviour, context)) : renderPlain(behaviour, context);
  const headers = { ...(stream ? streamHeaders(context) : JSON_HEADERS), 'content-encoding': encoding };
  return new Response(COMPRESS[encoding](plain) as BodyInit, { headers });
}

function errorAnswer({ behaviour, context }: AnswerJob, status: number): Response {
  const headers: Record<string, string> = { 'content-type': behaviour.contentType ?? 'application/json' };
  if (behaviour.retryAfter !== undefined) headers['retry-after'] = behaviour.retryAfter;
  const error = FAKE_FORMATS[context.format].error(status, `fake failure ${status}`);
  return new Response(behaviour.body ?? JSON.stringify(error), { status, headers });
}

type Fault = { readonly at: number; readonly kind: 'error' | 'reset' | 'hang' | 'truncate' };

/** How many writes until the script goes wrong, and how. Events ahead of the content do not count. */
function findFault({ behaviour, context }: AnswerJob): Fault | undefined {
  const { errorAfter, resetAfter, hangAfter, truncateAfter } = behaviour;
  const lead = FAKE_FORMATS[context.format].leadEvents;
  if (errorAfter !== undefined) return { at: errorAfter + lead, kind: 'error' };
  if (resetAfter !== undefined) return { at: resetAfter + lead, kind: 'reset' };
  if (hangAfter !== undefined) return { at: hangAfter + lead, kind: 'hang' };
  return truncateAfter === undefined ? undefined : { at: truncateAfter + lead, kind: 'truncate' };
}

function streamPieces(job: AnswerJob): ReadableStream<Uint8Array> {
  const { behaviour, counters } = job;
  const pieces = renderOnce(behaviour, job.context);
  const fault = findFault(job);
  let next = 0;
  let left = false;
  const finish = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    counters.completed += 1;
    controller.close();
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (next > 0) await pause(behaviour);
        if (left) return;
        if (fault !== undefined && next >= fault.at) {
          if (fault.kind === 'hang') return job.stopped;
          if (fault.kind === 'reset') {
            await Bun.sleep(BEFORE_RESET_MS);
            if (!left) controller.error(undefined);
            return;
          }
          if (fault.kind === 'error') controller.enqueue(renderStreamError(job.context));
          return finish(controller);
        }
        const piece = pieces[next];
        next += 1;
        if (piece !== undefined) controller.enqueue(piece);
        if (next >= pieces.length && fault === undefined) finish(controller);
      },
      cancel() {
        left = true;
        counters.cancelled += 1;
      },
    },
    { highWaterMark: 0 },
  );
}

async function pause(behaviour: FakeBehaviour): Promise<void> {
  const gapMs = behaviour.gapMs ?? 0;
  const jitterMs = behaviour.jitterMs ?? 0;
  // Single bytes and half characters only arrive apart when they are sent apart.
  const apart = behaviour.byteByByte === true || behaviour.splitCharacters === true;
  if (gapMs > 0 || jitterMs > 0) await Bun.sleep(gapMs + Math.random() * jitterMs);
  else if (apart) await new Promise((resolve) => setImmediate(resolve));
}
