import type { JsonObject } from '@llm0/core/chat/json';
import type { Usage } from '@llm0/core/chat/usage';
import type { SpeechAnswer, SpeechRequest, TranscriptAnswer, TranscriptionRequest } from '@llm0/core/tasks/audio';
import type { DecisionAnswer, DecisionRequest } from '@llm0/core/tasks/decision';
import type { ImageAnswer, ImageRequest } from '@llm0/core/tasks/image';
import type { ModerationAnswer, ModerationRequest } from '@llm0/core/tasks/moderation';
import type { RerankAnswer, RerankRequest } from '@llm0/core/tasks/rerank';
import type { TaskRequest } from '@llm0/core/tasks/task-request';
import type { EncodeContext, EndpointRequest } from './provider-request';

/** A vendor's answer, and the usage that it reports. */
export interface TaskAnswer<A> {
  readonly answer: A;
  readonly usage?: Usage | undefined;
}

/** Reads usage out of a stream whose bytes pass unchanged. */
export interface TaskStreamReader {
  /** Throws the vendor's error. Gives what the caller gets instead of these bytes, if that isn't the same. */
  push(bytes: Uint8Array): Uint8Array | undefined;
  /** True once the stream has an output. */
  readonly isBegun: boolean;
  /** True once an answer is there; the stream may end. */
  readonly isComplete: boolean;
  /** True once nothing more comes. */
  readonly isAll: boolean;
  readonly usage: Usage | undefined;
  /** Content-Type for the caller; absent: events. */
  readonly type?: string;
}

/** One endpoint of a vendor. Pure, like the rest of a provider. */
export interface TaskPart<R extends TaskRequest, A> {
  /** False for models that are none of this endpoint's; absent: the vendor decides. */
  serves?(model: string): boolean;
  /** Throws `unsupported_parameter` unless `dropParams`. */
  encodeRequest(request: R, context: EncodeContext): EndpointRequest;
  /** A complete answer (status 2xx); throws `malformed` for anything else. */
  decodeResponse(body: JsonObject, request: R): TaskAnswer<A>;
  /** A stream in the caller's own events, or bytes; absent where the vendor sends none. `type`: its Content-Type. */
  createStreamReader?(request: R, type: string): TaskStreamReader;
  /** Seconds that are billed at least, however short the file. */
  readonly leastSeconds?: number;
  /** The vendor's answers are bytes, not JSON: all of them are streams. */
  readonly sendsBytes?: boolean;
  /** All bytes of such an answer, for one that is kept. */
  decodeBytes?(bytes: Uint8Array, type: string, request: R): TaskAnswer<A>;
}

/** The endpoints of a provider; absent ones it lacks. */
export interface TaskParts {
  readonly moderation?: TaskPart<ModerationRequest, ModerationAnswer>;
  readonly rerank?: TaskPart<RerankRequest, RerankAnswer>;
  readonly image?: TaskPart<ImageRequest, ImageAnswer>;
  readonly transcription?: TaskPart<TranscriptionRequest, TranscriptAnswer>;
  readonly speech?: TaskPart<SpeechRequest, SpeechAnswer>;
  readonly decision?: TaskPart<DecisionRequest, DecisionAnswer>;
}

export type TaskName = keyof TaskParts;
