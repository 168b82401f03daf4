import type { EventBatch } from '@llm0/core/chat/event';
import type { ChatRequest } from '@llm0/core/chat/request';
import { addToTally, emptyTally } from '@llm0/core/chat/tally';
import { completionTokens, type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import { guessInputTokens, guessTokens } from '@llm0/core/pricing/estimate-tokens';

/** Usage of an answer whose upstream never reported any: an abort, a failure, a sloppy vendor. */
export function guessUsage(request: ChatRequest, batches: readonly EventBatch[]): Usage {
  // Counting is free everywhere.
  if (request.countOnly === true) return ZERO_USAGE;
  const tally = emptyTally();
  for (const batch of batches) addToTally(tally, batch);
  const { pieces, outputBytes, reasoningBytes } = tally;
  const reasoningTokens = guessTokens(reasoningBytes);
  return {
    ...ZERO_USAGE,
    inputTokens: guessInputTokens(request),
    // Streams bring about one token a piece: never guess fewer tokens than pieces came.
    outputTokens: Math.max(guessTokens(outputBytes), pieces - reasoningTokens),
    reasoningTokens,
    estimated: true,
  };
}

/**
 * Usage of an answer that was cut short. What a vendor reported by then holds for the input; its output count may be
 * from the very first event, so it is never less than what really came.
 */
export function partialUsage(request: ChatRequest, batches: readonly EventBatch[], reported: Usage | undefined): Usage {
  const guessed = guessUsage(request, batches);
  if (reported === undefined) return guessed;
  const missing = guessed.outputTokens + guessed.reasoningTokens - completionTokens(reported);
  if (missing <= 0) return reported;
  return { ...reported, outputTokens: reported.outputTokens + missing, estimated: true };
}

/** The last usage an upstream reported. */
export function lastUsage(batches: readonly EventBatch[]): Usage | undefined {
  const last = batches.findLast(({ events, gone }) => gone?.usage ?? events.some(({ type }) => type === 'usage'));
  return last?.events.findLast((event) => event.type === 'usage')?.usage ?? last?.gone?.usage;
}

/** What an upstream reported of all that was asked of it: nothing came behind it, and every choice has ended. */
export function finalUsage(request: ChatRequest, batches: readonly EventBatch[]): Usage | undefined {
  const tally = emptyTally();
  for (const batch of batches) addToTally(tally, batch);
  return tally.ended >= (request.n ?? 1) && tally.toldAtPieces === tally.pieces ? tally.usage : undefined;
}
