// The vocabulary takes some 400 ms to load, and 100,000 tokens 20 ms to decode, so both run in a separate thread.
import { parentPort } from 'node:worker_threads';
import { decode } from 'gpt-tokenizer/encoding/cl100k_base';
import { lowerPriority } from '../threads/lower-priority';

export interface DecodeJob {
  readonly id: number;
  readonly inputs: readonly (readonly number[])[];
}

export interface DecodeReply {
  readonly id: number;
  /** In the order of the inputs; undefined for an input with an invalid token. */
  readonly texts: readonly (string | undefined)[];
}

lowerPriority(10);

function decodeOne(tokens: readonly number[]): string | undefined {
  try {
    return decode(tokens);
  } catch {
    return undefined;
  }
}

parentPort?.on('message', ({ id, inputs }: DecodeJob) => {
  const reply: DecodeReply = { id, texts: inputs.map(decodeOne) };
  parentPort?.postMessage(reply);
});
