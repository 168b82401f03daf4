import type { ChatEvent, EventBatch } from '../chat/event';
import type { ChatRequest } from '../chat/request';
import { addToTally, emptyTally, outputText, sumTally } from '../chat/tally';
import {
  completionTokens,
  type FilledUsage,
  fillUsage,
  isUntold,
  isWhole,
  promptTokens,
  type Usage,
  untoldOf,
  ZERO_USAGE,
} from '../chat/usage';
import { guessInputTokens, guessTokens } from './estimate-cost';

/** Usage of an answer of which the upstream never reported any: an abort, a failure, a sloppy vendor. */
export function guessUsage(request: ChatRequest, batches: readonly EventBatch[]): Usage {
  // Counting is free everywhere.
  if (request.countOnly === true) return ZERO_USAGE;
  const tally = emptyTally();
  for (const batch of batches) addToTally(tally, batch);
  const { outputBytes, reasoningBytes } = sumTally(tally);
  const reasoningTokens = guessTokens(reasoningBytes);
  return {
    ...ZERO_USAGE,
    inputTokens: guessInputTokens(request),
    // Streams send about one token per piece, so the pieces are a lower bound.
    outputTokens: Math.max(guessTokens(outputBytes), tally.pieces - reasoningTokens),
    reasoningTokens,
    estimated: true,
  };
}

/** Usage of a whole answer: the vendor's counts, with missing ones estimated. */
export function wholeUsage(
  request: ChatRequest,
  batches: readonly EventBatch[],
  reported: Usage | undefined,
): FilledUsage {
  if (reported === undefined) return { usage: guessUsage(request, batches), untold: 'both' };
  // A cached answer has its usage already.
  if (batches.length === 0 || request.countOnly === true) return { usage: reported };
  // Counts are the last part of a whole answer.
  const told = batches.at(-1)?.whole === undefined && isStale(batches) ? withOutputUntold(reported) : reported;
  return isWhole(told) ? { usage: told } : fillUsage(told, () => guessUsage(request, batches));
}

/**
 * Usage of an interrupted answer. The vendor's count holds for input. Its output count may be from the first event, so
 * the received output is a lower bound.
 */
export function partialUsage(request: ChatRequest, batches: readonly EventBatch[], reported: Usage | undefined): Usage {
  const guessed = guessUsage(request, batches);
  if (reported === undefined) return guessed;
  const { usage } = fillUsage(withOutputUntold(reported), () => guessed);
  const isExact = promptTokens(reported) > 0 && completionTokens(guessed) <= completionTokens(reported);
  return isExact && reported.untold === undefined ? reported : usage;
}

const withOutputUntold = (usage: Usage): Usage => ({ ...usage, untold: untoldOf(isUntold(usage, 'input'), true) });

/** True if output followed the last report, which excludes it. */
function isStale(batches: readonly EventBatch[]): boolean {
  for (let i = batches.length - 1; i >= 0; i--) {
    const batch = batches[i] as EventBatch;
    if (batch.whole !== undefined) return false;
    const { events, gone } = batch;
    for (let at = events.length - 1; at >= 0; at--) {
      const event = events[at] as ChatEvent;
      if (event.type === 'usage') return false;
      // Refusal text after the vendor's counts is included in them.
      if (event.type !== 'refusal' && outputText(event) !== '') return true;
    }
    if (gone?.toldAtPieces !== undefined) return gone.toldAtPieces < gone.pieces;
  }
  return false;
}

/** The last usage an upstream reported. */
export function lastUsage(batches: readonly EventBatch[]): Usage | undefined {
  const last = batches.findLast(({ events, gone }) => gone?.usage ?? events.some(({ type }) => type === 'usage'));
  return last?.events.findLast((event) => event.type === 'usage')?.usage ?? last?.gone?.usage;
}

/** Final usage from the upstream: nothing followed it, and every choice ended. */
export function finalUsage(request: ChatRequest, batches: readonly EventBatch[]): Usage | undefined {
  const tally = emptyTally();
  for (const batch of batches) addToTally(tally, batch);
  return tally.ended >= (request.n ?? 1) && tally.toldAtPieces === tally.pieces ? tally.usage : undefined;
}
