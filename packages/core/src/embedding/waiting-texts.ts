import { type EmbedOutcome, MAX_EMBEDDED_CHARACTERS, none } from './embedder';

/** A text with a waiting caller. */
export interface WaitingText {
  readonly text: string;
  /** Embed the text in any language. */
  readonly anyLanguage: boolean;
  readonly settle: (outcome: EmbedOutcome) => void;
}

const MAX_QUEUED = 256;

/** Texts that wait for their vectors, oldest first; each until its own deadline. */
export class WaitingTexts {
  private readonly texts = new Set<WaitingText>();

  constructor(private readonly maxQueued = MAX_QUEUED) {}

  get size(): number {
    return this.texts.size;
  }

  /** Reason to refuse the text; undefined if accepted. */
  refusal(text: string): EmbedOutcome | undefined {
    if (text.length > MAX_EMBEDDED_CHARACTERS) return none('too_long');
    return this.texts.size >= this.maxQueued ? none('busy') : undefined;
  }

  /** `late` after `deadlineMs` at the latest, also once it was taken; at once where no time is left. */
  add(text: string, deadlineMs: number, anyLanguage = false): Promise<EmbedOutcome> {
    if (deadlineMs <= 0) return Promise.resolve(none('late'));
    const { promise, resolve } = Promise.withResolvers<EmbedOutcome>();
    const waiting: WaitingText = {
      ...{ text, anyLanguage },
      settle: (outcome) => {
        clearTimeout(timer);
        this.texts.delete(waiting);
        resolve(outcome);
      },
    };
    const timer = setTimeout(() => waiting.settle(none('late')), deadlineMs);
    this.texts.add(waiting);
    return promise;
  }

  /** Takes out as many of the oldest. */
  take(most: number): readonly WaitingText[] {
    const taken = [...this.texts.values().take(most)];
    for (const waiting of taken) this.texts.delete(waiting);
    return taken;
  }
}
