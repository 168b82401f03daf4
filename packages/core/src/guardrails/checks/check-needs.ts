import type { EmbedOutcome } from '../../embedding/embedder';

/** A question to a model, on behalf of the request that is judged. */
export interface ModelQuestion {
  readonly projectId: string;
  readonly keyId: string;
  readonly requestId: string;
  /** `provider/model`, or what the project calls it. */
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
  /** Names of what it is flagged for, as the vendor has them. */
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
  /** In any language; never throws, and is `late` after `deadlineMs`. */
  readonly embed: (text: string, deadlineMs: number) => Promise<EmbedOutcome>;
  /** Through the gateway itself: admitted, priced and booked to key and project, and not judged again. Throws where it fails. */
  readonly askModel: (question: ModelQuestion, signal: AbortSignal) => Promise<ModelAnswer>;
  /** The same through a moderation endpoint; undefined where the model has none. */
  readonly moderate: (question: ModerationQuestion, signal: AbortSignal) => Promise<ModerationAnswer | undefined>;
  /** Refuses private addresses and follows no redirect. Throws where it fails. */
  readonly post: (request: GuardedPost, signal: AbortSignal) => Promise<PostAnswer>;
  /** Signs what webhooks are sent: a project's own. */
  readonly webhookSecret: (projectId: string) => Uint8Array | Promise<Uint8Array>;
  readonly nowMs: () => number;
  readonly createId: () => string;
}
