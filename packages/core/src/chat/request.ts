import type { JsonObject, JsonValue, WireFormat } from './json';

/** One part of a message's content. `raw` keeps unknown parts. */
export type ContentPart =
  | { readonly type: 'text'; readonly text: string; readonly cacheControl?: JsonValue }
  | {
      readonly type: 'image';
      /** http(s), gs:// or data: URL, exactly as the client sent it. */
      readonly url: string;
      readonly detail?: string;
      readonly cacheControl?: JsonValue;
    }
  | { readonly type: 'audio'; readonly dataBase64: string; readonly format: string }
  | {
      readonly type: 'file';
      /** Also an http(s) or gs:// URL, or base64 alone. */
      readonly dataUrl: string;
      readonly filename?: string;
      readonly cacheControl?: JsonValue;
    }
  | { readonly type: 'refusal'; readonly text: string }
  | { readonly type: 'raw'; readonly format: WireFormat; readonly value: JsonObject };

/** A model's reasoning that must survive a round trip; `signature`/`data` are opaque to the gateway. */
export interface ReasoningPart {
  readonly text?: string;
  readonly signature?: string;
  /** Redacted (encrypted) thinking. */
  readonly data?: string;
  readonly format?: string;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text exactly as the model wrote it. */
  readonly arguments: string;
  /** An OpenAI `custom` tool call carries free text instead of JSON. */
  readonly custom?: boolean;
  /** Vendor signature that must return with the call (Gemini's thought signature). */
  readonly signature?: string;
  readonly cacheControl?: JsonValue;
}

export type ChatMessage =
  | { readonly role: 'system' | 'developer'; readonly content: readonly ContentPart[]; readonly name?: string }
  | { readonly role: 'user'; readonly content: readonly ContentPart[]; readonly name?: string }
  | {
      readonly role: 'assistant';
      readonly content: readonly ContentPart[];
      readonly name?: string;
      readonly toolCalls?: readonly ToolCall[];
      readonly reasoning?: readonly ReasoningPart[];
      /** The original message if the fields above can't hold it (audio ids, unknown blocks). */
      readonly raw?: { readonly format: WireFormat; readonly value: JsonObject };
    }
  | {
      readonly role: 'tool';
      readonly toolCallId: string;
      readonly content: readonly ContentPart[];
      readonly name?: string;
      readonly isError?: boolean;
    };

export interface FunctionTool {
  readonly type: 'function';
  readonly name: string;
  readonly description?: string;
  /** JSON schema of the arguments. */
  readonly parameters?: JsonObject;
  readonly strict?: boolean;
  readonly cacheControl?: JsonValue;
}

/** A vendor's built-in or otherwise foreign tool, understood only by its own wire format. */
export interface RawTool {
  readonly type: 'raw';
  readonly format: WireFormat;
  readonly value: JsonObject;
}

export type Tool = FunctionTool | RawTool;

export type ToolChoice =
  | { readonly type: 'auto' }
  | { readonly type: 'none' }
  | { readonly type: 'required' }
  | { readonly type: 'tool'; readonly name: string }
  | { readonly type: 'raw'; readonly format: WireFormat; readonly value: JsonValue };

export type ResponseFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json_object' }
  | {
      readonly type: 'json_schema';
      readonly name: string;
      readonly description?: string;
      readonly schema: JsonObject;
      readonly strict?: boolean;
    };

/** The request as the client's dialect sent it, so that an upstream of the same format gets every field. */
export interface WireRequest {
  readonly format: WireFormat;
  readonly body: JsonObject;
  /** Headers of the format's request (lower-case names), which may change the answer. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Text that is to be continued. */
export interface TextPrompt {
  /** Texts, or tokens as the model numbers them. Each gets `n` answers, one prompt's after the other's. */
  readonly prompts: readonly (string | readonly number[])[];
  /** Text after the requested completion. */
  readonly suffix?: string;
  /** Each answer begins with its prompt. */
  readonly echo?: boolean;
  /** Candidates for each prompt, of which the best `n` are given. */
  readonly bestOf?: number;
  /** Number of alternatives per token with probabilities; 0 = only the chosen token's. */
  readonly logprobs?: number;
  /** All else that was sent, as Chat Completions calls it: for servers that speak no other format. */
  readonly chat: Readonly<JsonObject>;
}

/**
 * A chat request in canonical form: dialects decode to it and providers encode from it. Absent fields weren't sent and
 * have no defaults.
 */
export interface ChatRequest {
  /** SHA-256 (hex) of its canonical text, worked out ahead and in turns: set for large requests, and only for them. */
  readonly digest?: string;
  /** Model name exactly as asked for (may be an alias or `provider/model`). */
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  /** Set where text is to be continued instead: each of the messages is the user's, and holds one prompt. */
  readonly prompt?: TextPrompt;
  readonly stream: boolean;
  /** Set where no answer is wanted, only the number of input tokens. */
  readonly countOnly?: true;
  readonly tools?: readonly Tool[];
  readonly toolChoice?: ToolChoice;
  readonly parallelToolCalls?: boolean;
  readonly responseFormat?: ResponseFormat;
  /** The request's own output limit in tokens, per choice. */
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly stop?: readonly string[];
  readonly seed?: number;
  /** Number of choices asked for. */
  readonly n?: number;
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  readonly logprobs?: boolean;
  readonly topLogprobs?: number;
  readonly logitBias?: JsonObject;
  readonly reasoningEffort?: string;
  /** Anthropic-style `thinking`, passed as is. */
  readonly thinking?: JsonObject;
  readonly serviceTier?: string;
  readonly user?: string;
  readonly metadata?: JsonObject;
  /** Unknown top-level fields by name, for upstreams of the same format. */
  readonly extra: Readonly<JsonObject>;
  readonly wire?: WireRequest;
  /** Number of leading wire items that come from stored answers. */
  readonly earlierItems?: number;
}
