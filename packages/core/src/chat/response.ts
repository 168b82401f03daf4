import type { JsonObject, JsonValue, WireFormat } from './json';
import type { ToolCall } from './request';
import type { Usage } from './usage';

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

export interface ChatChoice {
  readonly index: number;
  /** null when the model produced no text at all (only tool calls or a refusal). */
  readonly text: string | null;
  readonly reasoning?: string;
  readonly reasoningDetails?: readonly JsonObject[];
  readonly refusal?: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly finishReason: FinishReason;
  readonly nativeFinishReason?: string;
  /** The message in its vendor's blocks, if the other fields can't hold all of it. */
  readonly raw?: { readonly format: WireFormat; readonly value: JsonObject };
  /** Unknown fields of the vendor's message (`annotations`, `audio`, …) and of its choice (`logprobs`, …). */
  readonly messageExtra?: Readonly<Record<string, JsonValue>>;
  readonly choiceExtra?: Readonly<Record<string, JsonValue>>;
}

/** A complete answer: all its events, collected. Caches store it, and plain clients receive it. */
export interface ChatResponse {
  readonly id?: string;
  /** The answering model as the vendor names it. */
  readonly model?: string;
  readonly createdSeconds?: number;
  readonly choices: readonly ChatChoice[];
  /** Absent when the vendor reported none. */
  readonly usage?: Usage;
  readonly extra?: Readonly<Record<string, JsonValue>>;
}
