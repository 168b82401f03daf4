import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { FakeBehaviour } from './behaviour';

export interface RenderContext {
  readonly model: string;
  readonly includeUsage: boolean;
  /** Of requests that continue text. */
  readonly prompts?: readonly JsonValue[];
  readonly echo?: boolean;
}

/** How one vendor's API says things. */
export interface FakeFormat {
  /** The whole plain answer. */
  plain(behaviour: FakeBehaviour, context: RenderContext): JsonObject;
  /** The streamed answer as server-sent events, or as whatever bytes the vendor streams. */
  events(behaviour: FakeBehaviour, context: RenderContext): (string | Uint8Array)[];
  /** Events that come ahead of the first one with content. */
  readonly leadEvents: number;
  /** The body of an error answer. */
  error(status: number, message: string): JsonObject;
  /** An error within a stream. */
  readonly errorEvent: string | Uint8Array;
  /** Content type of a stream that is none of server-sent events. */
  readonly streamType?: string;
}

const DEFAULT_PROMPT_TOKENS = 10;
const DEFAULT_CHUNKS = 20;

export function callId(index: number): string {
  return `call_fake_${index}`;
}

export function finishReason(behaviour: FakeBehaviour): string {
  return behaviour.finishReason ?? (behaviour.toolCalls === undefined ? 'stop' : 'tool_calls');
}

export function fullText(behaviour: FakeBehaviour): string {
  return behaviour.text ?? 'word '.repeat(chunkCount(behaviour)).trimEnd();
}

function chunkCount(behaviour: FakeBehaviour): number {
  return behaviour.chunks ?? DEFAULT_CHUNKS;
}

/** The text in as many pieces as chunks are asked for. */
export function textPieces(behaviour: FakeBehaviour): string[] {
  const characters = [...fullText(behaviour)];
  const count = Math.max(1, Math.min(chunkCount(behaviour), characters.length));
  const size = Math.ceil(characters.length / count);
  return Array.from({ length: count }, (_, i) => characters.slice(i * size, (i + 1) * size).join('')).filter(
    (piece) => piece !== '',
  );
}

/** Token counts to bill; completion holds reasoning, prompt holds cached. */
export function usageCounts(behaviour: FakeBehaviour) {
  const usage = behaviour.usage ?? {};
  return {
    prompt: usage.prompt ?? DEFAULT_PROMPT_TOKENS,
    completion: usage.completion ?? chunkCount(behaviour),
    cached: usage.cached ?? 0,
    reasoning: usage.reasoning ?? 0,
  };
}

/** JSON text in two pieces, as models write it. */
export function halves(text: string, { cutAt }: Pick<FakeBehaviour, 'cutAt'> = {}): readonly [string, string] {
  const half = cutAt ?? Math.ceil(text.length / 2);
  return [text.slice(0, half), text.slice(half)];
}
