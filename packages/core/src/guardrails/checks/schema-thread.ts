// Judges in a thread of its own, which is ended where that takes too long.
import { parentPort } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { lowerPriority } from '../../threads/lower-priority';
import { compileSchema, type JsonSchema, type JudgeJson } from './compile-schema';

/** A text and the schema that it must fit, as JSON. */
export interface SchemaJob {
  readonly schema: string;
  readonly text: string;
}

export type SchemaReply =
  | { readonly type: 'judged'; readonly reason: string | undefined }
  | { readonly type: 'failed'; readonly message: string };

lowerPriority(10);
const compiled = new LRUCache<string, JudgeJson>({ max: 100 });

function judge({ schema, text }: SchemaJob): SchemaReply {
  try {
    const known = compiled.get(schema) ?? compileSchema(JSON.parse(schema) as JsonSchema);
    compiled.set(schema, known);
    return { type: 'judged', reason: known(text) };
  } catch (error) {
    return { type: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}

parentPort?.on('message', (job: SchemaJob) => parentPort?.postMessage(judge(job)));
