import type { EventBatch } from '@llm0/core/chat/event';
import type { JsonObject, JsonValue, WireFormat } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import type { ChatResponse } from '@llm0/core/chat/response';
import type { Usage } from '@llm0/core/chat/usage';
import type { StoredResponse } from '@llm0/core/conversations/stored-responses';
import type { EmbeddingRequest } from '@llm0/core/embedding/embedding-request';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import type { DialectName } from '@llm0/core/logs/log-record';
import type { SentFile, TaskRequest } from '@llm0/core/tasks/task-request';

export type CacheOutcome = 'exact' | 'semantic' | 'miss';

/** Facts for the client beside the answer; complete once the answer is. */
export interface ResponseSummary {
  readonly requestId: string;
  readonly provider: string;
  /** The answering model. */
  readonly model: string;
  readonly cache: CacheOutcome;
  readonly usage: Usage;
  readonly costNanoUsd: number;
  readonly latencyMs: number;
  readonly createdSeconds: number;
  /** Request. */
  readonly request?: ChatRequest;
}

/** Turns event batches into the bytes of one streamed answer in the client's format. */
export interface StreamEncoder {
  /** Bytes to send for the batch; null when there is nothing to send. */
  encode(batch: EventBatch): Uint8Array | null;
  /** The end of a complete answer: trailing metadata and terminator. */
  finish(summary: ResponseSummary): Uint8Array;
  /** An error after the first output: an error frame, then the end. Never looks complete. */
  fail(error: GatewayError, requestId: string): Uint8Array;
  /** `finish` of a large answer, in turns; absent where its end is small, however large it is. */
  finishLarge?(summary: ResponseSummary): Promise<LargeEnd>;
  /** The answer as JSON text, for formats with storage; available from `finish` on. */
  readonly answer?: string;
}

export interface LargeEnd {
  readonly pieces: readonly Uint8Array[];
  /** The whole answer, all but its cost. */
  readonly json: JsonObject;
}

/** References to stored answers. */
export interface AnswerReferences {
  /** Request id of the previous answer. */
  readonly previousId?: string;
  /** Ids of single items of answers. */
  readonly itemIds: readonly string[];
}

/** Metadata of a stored request and answer. */
export interface StoredPart extends Pick<StoredResponse, 'itemIds' | 'previousId'> {
  readonly input: readonly JsonObject[];
}

/** A stored step of a conversation. */
export interface ReadTurn {
  readonly input: JsonValue;
  readonly answer: JsonValue;
}

/** Continuation from stored answers, for formats that store them. */
export interface ResponseStorage {
  /** Stored answers that the body references; undefined without any. Throws for foreign ids. */
  referencesOf(body: JsonObject): AnswerReferences | undefined;
  /**
   * The body with references resolved, and the number of items from earlier turns. `turns` are undefined if the answer
   * is missing. Throws the missing reference.
   */
  continueFrom(
    body: JsonObject,
    kept: { readonly turns: readonly ReadTurn[] | undefined; readonly answers: readonly JsonValue[] },
  ): { readonly body: JsonObject; readonly earlierItems: number };
  /** undefined if the caller disables storage. `answer`: the caller's body. */
  partToKeep(request: ChatRequest, requestId: string, answer: JsonObject): StoredPart | undefined;
  /** The body without references to storage, if nothing is stored. */
  withoutStorage(body: JsonObject): JsonObject;
  /** All items that led to the last turn's answer, oldest first. */
  inputItems(turns: readonly ReadTurn[]): readonly JsonObject[];
}

/** State for stream encoders before the first byte. */
export interface StreamContext {
  readonly requestId: string;
  readonly model: string;
  readonly createdSeconds: number;
  readonly request: ChatRequest;
}

/** A model in `GET /v1/models`: OpenAI's fields, then the price book's facts about it or its first target. */
export interface ModelCard {
  readonly id: string;
  readonly object: 'model';
  readonly created: number;
  readonly owned_by: string;
  readonly context_window?: number;
  readonly max_output_tokens?: number;
  readonly capabilities: readonly string[];
  /** `chat`, `embedding`, `image`, …; absent without a price. */
  readonly mode?: string;
  readonly input_modalities?: readonly string[];
  readonly output_modalities?: readonly string[];
  /** Day of its vendor's end of support, `2027-01-31`. */
  readonly retires_at?: string;
  readonly pricing?: Readonly<Record<string, number>>;
  /** For an alias: `provider/model` of each target. */
  readonly targets?: readonly string[];
}

/** A dialect's own list of models. */
export interface ModelShape {
  /** True for callers of this dialect: the path is the same for all. */
  isAsked(headers: Headers): boolean;
  encodeModel(model: ModelCard): JsonObject;
  /** Throws `invalid_request` for a page that cannot be. */
  /** Of its own, beside the filters. */
  readonly listParameters: readonly string[];
  encodeList(models: readonly ModelCard[], query: URLSearchParams): JsonObject;
}

/** Encodes a gateway error for the clients of a format. */
export interface ErrorEnvelope {
  /** Header for the request's id in this format, beside `X-Request-Id`. */
  readonly requestIdHeader?: string;
  /** The error as JSON text. */
  encodeError(error: GatewayError, requestId?: string): string;
  /** Headers in which those clients look for its kind. */
  errorHeaders?(error: GatewayError): Readonly<Record<string, string>>;
}

/** A large answer, written in turns. */
export interface LargeBody {
  readonly bytes: Blob;
  /** The answer without its cost. */
  readonly json: JsonObject;
}

/** Shows that a stream in the format's own events exceeds what ours can express in order. */
export interface OwnParts {
  /** Type of the event at the start of a part, and its member that holds the part. */
  readonly begins: string;
  readonly member: string;
  /** Parts in events without a counterpart. */
  readonly foreign: readonly string[];
  /** True if our events express all started parts. */
  isPlain(begun: readonly JsonObject[]): boolean;
}

/** One client-facing API. Wire → ours on the way in, ours → wire on the way out. */
export interface Dialect extends ErrorEnvelope {
  readonly name: DialectName;
  readonly wireFormat: WireFormat;
  readonly models?: ModelShape;
  /** For formats whose answers hold more than our types. */
  readonly ownParts?: OwnParts;
  /** Set for formats with stored answers. */
  readonly responseStorage?: ResponseStorage;
  /**
   * Throws `invalid_request` with the field's name. Ignores unknown fields. `headers`: for formats with headers in the
   * request.
   */
  decodeRequest(body: JsonObject, headers?: Headers): ChatRequest;
  /** A whole plain answer. `wireBody`: the upstream's body if it has the same format. */
  encodeResponse(response: ChatResponse, summary: ResponseSummary, wireBody?: JsonObject): string;
  /** Encodes a large answer in slices. */
  encodeLargeResponse(response: ChatResponse, summary: ResponseSummary, wireBody?: JsonObject): Promise<LargeBody>;
  createStreamEncoder(context: StreamContext): StreamEncoder;
}

export type EmbeddingFormat = 'float' | 'base64';

export interface DecodedEmbeddingRequest {
  readonly request: EmbeddingRequest;
  readonly format: EmbeddingFormat;
}

/** Summary of the embeddings for the client. */
export interface EmbeddingSummary {
  /** The answering model. */
  readonly model: string;
  /** Little-endian 32-bit floats as base64, one for each input. */
  readonly vectorsBase64: readonly string[];
  readonly promptTokens: number;
  readonly costNanoUsd: number;
  readonly latencyMs: number;
}

/** One client-facing API for embeddings. */
export interface EmbeddingDialect extends ErrorEnvelope {
  readonly name: DialectName;
  /** Throws `invalid_request` with the field's name; keeps unknown fields. */
  decodeRequest(body: JsonObject): DecodedEmbeddingRequest;
  /** The whole answer as JSON text. */
  encodeResponse(summary: EmbeddingSummary, format: EmbeddingFormat): string;
  /** Encodes a large answer in slices. */
  encodeLargeResponse(summary: EmbeddingSummary, format: EmbeddingFormat): Promise<Blob>;
}

/** Facts for the client beside a task's answer. */
export type TaskSummary = Omit<ResponseSummary, 'provider' | 'request'>;

/** A request's body: JSON, or a form with its fields as JSON and its files. */
export interface TaskBody {
  readonly fields: JsonObject;
  /** By name of the field; only of forms. */
  readonly files: readonly (readonly [field: string, file: SentFile])[];
}

export interface EncodedBytes {
  readonly type: string;
  readonly body: string | Uint8Array;
}

/** One client-facing API of a task. */
/** A file that JSON names: one of `/v1/files`, or base64 in place. */
export interface FileReference {
  /** Its field in the form. */
  readonly field: string;
  /** Where the JSON names it. */
  readonly param: string;
  readonly source: { readonly fileId: string } | { readonly type: string; readonly base64: string };
}

export interface ReferencingForm {
  readonly fields: JsonObject;
  readonly references: readonly FileReference[];
}

export interface TaskDialect<R extends TaskRequest, A extends JsonObject> extends ErrorEnvelope {
  readonly name: DialectName;
  /** `form`: takes a form instead of JSON. `audio`: one with a file that goes on as it comes. */
  readonly body: 'json' | 'form' | 'audio';
  /** Of a form that may come as JSON: its fields, and its files by reference. Absent where it may not. */
  referencesOf?(body: JsonObject): ReferencingForm;
  /** Throws `invalid_request` with the field's name; keeps unknown fields. */
  decodeRequest(body: TaskBody): R;
  /** The whole answer. */
  encodeResponse(answer: A, summary: TaskSummary): JsonObject;
  /** The whole answer as events, for a caller that wants a stream; absent where no caller can. */
  encodeEvents?(answer: A, summary: TaskSummary): readonly JsonObject[];
  /** The whole answer where it isn't JSON; undefined where it is. */
  encodeBytes?(answer: A): EncodedBytes | undefined;
}
