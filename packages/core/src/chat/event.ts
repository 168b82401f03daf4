import type { JsonObject, JsonValue, WireFormat } from './json';
import type { ChatResponse, FinishReason } from './response';
import type { Usage } from './usage';

/**
 * One thing that happened in an answer. `choice` counts the choices of one answer, `toolIndex` the tool calls of one
 * choice; both from 0 and never restarting. An upstream's failure is not an event: the stream throws a `GatewayError`.
 */
export type ChatEvent =
  /** First event of every answer. `model` is the answering model as the vendor names it. */
  | { readonly type: 'start'; readonly id?: string; readonly model?: string; readonly createdSeconds?: number }
  | { readonly type: 'text'; readonly choice: number; readonly text: string }
  | {
      readonly type: 'reasoning';
      readonly choice: number;
      readonly text: string;
    }
  /** A complete signed or redacted reasoning block, for round trips (`reasoning_details`). */
  | { readonly type: 'reasoning-detail'; readonly choice: number; readonly detail: JsonObject }
  | { readonly type: 'refusal'; readonly choice: number; readonly text: string }
  | {
      readonly type: 'tool-call';
      readonly choice: number;
      readonly toolIndex: number;
      readonly id: string;
      readonly name: string;
      readonly custom?: boolean;
      readonly signature?: string;
    }
  | {
      readonly type: 'tool-arguments';
      readonly choice: number;
      readonly toolIndex: number;
      readonly text: string;
    }
  | {
      readonly type: 'finish';
      readonly choice: number;
      readonly reason: FinishReason;
      /** The vendor's own value, e.g. `end_turn`, `SAFETY`. */
      readonly nativeReason?: string;
    }
  /**
   * The whole message in the vendor's blocks, if other events can't hold all of it: unknown blocks, or their own order.
   * Other formats skip it.
   */
  | { readonly type: 'raw-message'; readonly choice: number; readonly format: WireFormat; readonly value: JsonObject }
  /**
   * An item in the vendor's format, without texts: the events up to its end contain them. `part`: they continue with
   * its next part. Only callers of the same format get it.
   */
  | {
      readonly type: 'native-item';
      readonly choice: number;
      readonly format: WireFormat;
      readonly step: 'begin' | 'part' | 'end';
      readonly item: JsonObject;
    }
  /** Output that no other event holds: its UTF-8 bytes, for estimates only. `isWhole`: those of the whole answer. */
  | { readonly type: 'unread'; readonly choice?: undefined; readonly bytes: number; readonly isWhole?: true }
  /** Cumulative: the last one of an answer wins. */
  | { readonly type: 'usage'; readonly usage: Usage }
  /** A field of the vendor's answer the gateway does not know: top-level (`choice` absent), or of a choice's message
   * (`scope` delta/message) or of the choice itself (e.g. `logprobs`). Later values of a name replace earlier ones,
   * arrays under `logprobs` are appended. */
  | {
      readonly type: 'extra';
      readonly choice?: number;
      readonly scope: 'answer' | 'choice' | 'message';
      readonly name: string;
      readonly value: JsonValue;
    };

/** The bytes (stream) or the parsed body (plain answer) that a batch was decoded from. */
export type WirePart =
  /** Whole SSE events to forward unchanged: they contain `events`, but never the end of the answer. */
  | {
      readonly kind: 'bytes';
      readonly format: WireFormat;
      readonly bytes: Uint8Array;
      /** The complete plain answer, for formats whose streams end with it. */
      readonly answer?: JsonObject;
    }
  /** A complete plain answer. */
  | { readonly kind: 'body'; readonly format: WireFormat; readonly body: JsonObject };

/** Tally of dropped batches, enough to estimate their cost. */
export interface AnswerTally {
  /** Pieces of output, and their UTF-8 bytes. */
  pieces: number;
  outputBytes: number;
  reasoningBytes: number;
  /** Of thoughts that came whole, in text or sealed. */
  detailBytes?: number;
  /** Of a whole answer in the vendor's form. */
  wholeBytes?: number;
  /** The last one reported. */
  usage?: Usage;
  /** Pieces received by then. */
  toldAtPieces?: number;
  /** Choices that have ended. */
  ended: number;
}

/** Events of one network chunk (or one JSON answer, or a replay): the unit that flows through the pipeline. */
export interface EventBatch {
  readonly events: readonly ChatEvent[];
  readonly wire?: WirePart;
  /** Sum of earlier batches that were too large to keep. */
  readonly gone?: AnswerTally;
  /** The answer, where one batch holds all of it: `events` are made on demand. */
  readonly whole?: ChatResponse;
  /** Too much to be worked on at once. */
  readonly isLarge?: true;
  /** The answer ends with it; absent: that shows later. */
  readonly isLast?: true;
}

/** True for visible events: after one, an answer can't fail over. */
export const isOutputEvent = ({ type }: ChatEvent): boolean => !SILENT.has(type);

const SILENT: ReadonlySet<ChatEvent['type']> = new Set<ChatEvent['type']>([
  ...(['start', 'usage', 'extra', 'native-item', 'unread'] as const),
]);
