import type { GuardrailPart } from './policy';
import type { Span } from './span';

/** A whole text to judge, with its position. */
export interface JudgedText {
  readonly text: string;
  readonly on: 'input' | 'output';
  readonly part: GuardrailPart;
  readonly projectId: string;
  readonly keyId: string;
  readonly requestId: string;
}

/** Result of a check on one text. */
export interface Verdict {
  /** 0 without findings. */
  readonly count: number;
  /** Positions if known; without them, a replacement covers the whole text. */
  readonly spans?: readonly Span[];
  /** Replacement of the whole text, from a webhook. */
  readonly replacement?: string;
  /** For `retry`: the reason for the model; never the find itself. */
  readonly reason?: string;
  /** Spent on asking (a moderation model), booked to the project. */
  readonly costNanoUsd?: number;
}

/** Judges whole texts, so streams wait for their end. Throws on failure; `signal` is its time-out. */
export interface TextCheck {
  judge(text: JudgedText, signal: AbortSignal): Verdict | Promise<Verdict>;
}

export const NOTHING_FOUND: Verdict = { count: 0 };
