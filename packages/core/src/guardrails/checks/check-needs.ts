import type { EmbedOutcome } from '../../embedding/embedder';

/** A question to a model, on behalf of the request that is judged. */
export interface ModelQuestion {
  readonly projectId: string;
  readonly keyId: string;
  readonly requestId: string;
  /** `provider/model`, or the project's alias. */
  readonly model: string;
  readonly system: string;
  readonly user: string;
  readonly maxOutputTokens: number;
}

export interface ModelAnswer {
  readonly text: string;
  readonly costNanoUsd: number;
}

/** Verdict of a provider's moderation endpoint. */
export interface ModerationAnswer {
  readonly flagged: boolean;
  /** Flagged categories by the vendor's names. */
  readonly categories: readonly string[];
  readonly costNanoUsd: number;
}

export type ModerationQuestion = Pick<ModelQuestion, 'projectId' | 'keyId' | 'requestId' | 'model'> & {
  readonly text: string;
};

/** JSON for an address that an operator gave. */
export interface GuardedPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** More is an error. */
  readonly maxAnswerBytes: number;
}

export interface PostAnswer {
  readonly status: number;
  readonly body: string;
}

/** Dependencies of whole-text checks. */
export interface CheckNeeds {
  /** Any language; never throws, and returns `late` after `deadlineMs`. */
  readonly embed: (text: string, deadlineMs: number) => Promise<EmbedOutcome>;
  /**
   * Calls a model through the gateway: admitted, priced and booked to key and project, but not judged. Throws on
   * failure.
   */
  readonly askModel: (question: ModelQuestion, signal: AbortSignal) => Promise<ModelAnswer>;
  /** Uses a moderation endpoint; undefined for models without one. */
  readonly moderate: (question: ModerationQuestion, signal: AbortSignal) => Promise<ModerationAnswer | undefined>;
  /** Refuses private addresses and follows no redirect. Throws on failure. */
  readonly post: (request: GuardedPost, signal: AbortSignal) => Promise<PostAnswer>;
  /** Secret that signs webhook bodies, one for each project. */
  readonly webhookSecret: (projectId: string) => Uint8Array | Promise<Uint8Array>;
  readonly nowMs: () => number;
  readonly createId: () => string;
}
