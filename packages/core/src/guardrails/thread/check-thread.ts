// Runs slow checks in a thread, which is terminated at the deadline.
import { parentPort } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { lowerPriority } from '../../threads/lower-priority';
import { compileSchema, type JsonSchema } from '../checks/compile-schema';
import { decodeEscapes, unescapeText } from '../decoders/escapes';
import { findPattern } from '../detectors/pattern';
import { type Folding, foldText } from '../folded-text';
import type { TextKind } from '../piece-window';
import { mergeSpans, type Span } from '../span';

export type ThreadJob =
  /** A schema as JSON, and a text that must fit it. */
  | { readonly type: 'schema'; readonly schema: string; readonly text: string }
  /** An expression, and a text that is searched for it as the kind it is. */
  | {
      readonly type: 'pattern';
      readonly pattern: string;
      readonly folding: Folding;
      readonly kind: TextKind;
      readonly text: string;
    };

export type ThreadReply =
  /** Reason, as in `JudgeJson`. */
  | { readonly type: 'judged'; readonly reason: string | undefined }
  /** Alternating starts and ends; in the unescaped text for JSON. */
  | { readonly type: 'found'; readonly places: Uint32Array<ArrayBuffer> }
  | { readonly type: 'failed'; readonly message: string };

lowerPriority(10);
const schemas = new LRUCache<string, ReturnType<typeof compileSchema>>({ max: 100 });
const patterns = new LRUCache<string, ReturnType<typeof findPattern>>({ max: 100 });

type Jobs = { readonly [T in ThreadJob['type']]: (job: Extract<ThreadJob, { type: T }>) => ThreadReply };

const JOBS: Jobs = {
  schema({ schema, text }) {
    const judge = schemas.get(schema) ?? compileSchema(JSON.parse(schema) as JsonSchema);
    schemas.set(schema, judge);
    return { type: 'judged', reason: judge(text) };
  },
  pattern({ pattern, folding, kind, text }) {
    const detector = patterns.get(pattern) ?? findPattern(pattern);
    patterns.set(pattern, detector);
    const spansIn = (read: string): readonly Span[] => {
      const folded = foldText(read, folding);
      const at = ({ start, end, kind }: Span) => ({ start: folded.originOf(start), end: folded.endOf(end), kind });
      return mergeSpans(detector.find(folded.text, true)).map(at);
    };
    const spans =
      kind === 'json'
        ? spansIn(decodeEscapes(text))
        : mergeSpans([...spansIn(text), ...(text.includes('\\') ? escapedSpans(text, spansIn) : [])]);
    const places = new Uint32Array(spans.length * 2);
    for (const [index, { start, end }] of spans.entries()) {
      places[2 * index] = start;
      places[2 * index + 1] = end;
    }
    return { type: 'found', places };
  },
};

/** Finds in the unescaped text, by their original positions. */
function escapedSpans(written: string, spansIn: (read: string) => readonly Span[]): readonly Span[] {
  const places: number[] = [];
  let next = 0;
  const { text, length } = unescapeText(written, (characters, each) => {
    for (let one = 0; one < characters; one++, next += each) places.push(next);
  });
  const placeOf = (at: number): number => places[at] ?? length + at - places.length;
  return spansIn(text + written.slice(length)).map(({ start, end, kind }) => {
    return { start: placeOf(start), end: placeOf(end), kind };
  });
}

function work<T extends ThreadJob['type']>(job: Extract<ThreadJob, { type: T }>): ThreadReply {
  try {
    return JOBS[job.type as T](job);
  } catch (error) {
    return { type: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}

parentPort?.on('message', (job: ThreadJob) => parentPort?.postMessage(work(job)));
