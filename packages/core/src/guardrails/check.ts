import type { GuardrailPart } from './policy';
import type { Span } from './span';

/** A whole text that is to be judged, and where it stands. */
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
  /** 0: nothing is wrong with it. */
  readonly count: number;
  /** Where, if a check knows; without them an action that replaces takes the whole text. */
  readonly spans?: readonly Span[];
  /** Replacement of the whole text, from a webhook. */
  readonly replacement?: string;
  /** For `retry`: what was wrong, in words for the model; never what was found. */
  readonly reason?: string;
  /** Spent on asking (a moderation model), booked to the project. */
  readonly costNanoUsd?: number;
}

/** Judges whole texts: streams wait for all of one. Throws where it cannot; `signal` ends at its time-out. */
export interface TextCheck {
  judge(text: JudgedText, signal: AbortSignal): Verdict | Promise<Verdict>;
}

export const NOTHING_FOUND: Verdict = { count: 0 };
