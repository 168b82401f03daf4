import { addUsage, type Usage, ZERO_USAGE } from '../chat/usage';
import { pricesIn } from '../pricing/compute-cost';
import type { PricedModel } from '../pricing/price-book';
import { refuseUnbounded } from '../tasks/task-request';

export function refuseUnlimited({ provider, model }: PricedModel, field: 'context_window' | 'max_output_tokens') {
  return refuseUnbounded('model', `${provider}/${model} without "${field}" in the price book`);
}

export interface TurnBounds {
  /** Counts as much as the vendor may bill at most; throws `request_over_limit` where nothing bounds that. */
  readonly strict: boolean;
  /** Of the request, else of the session. */
  readonly outputTokens: number | undefined;
  readonly defaultOutputTokens: number;
}

/** What the next answer reads: all of the conversation, which a vendor bills again with each answer. */
export class ConversationSize {
  /** As of the last answer that told its usage. */
  private known: Usage = ZERO_USAGE;
  /** Sent since. */
  private fresh: Usage = ZERO_USAGE;

  add(usage: Usage): void {
    this.fresh = addUsage(this.fresh, usage);
  }

  /** An answer told what it read and wrote: the next one reads both. */
  tell(usage: Usage): void {
    this.known = asInput(usage);
    this.fresh = ZERO_USAGE;
  }

  /** The most that the next answer reads and writes. */
  bound(priced: PricedModel, bounds: TurnBounds): Usage {
    const { strict, outputTokens, defaultOutputTokens: usual } = bounds;
    const { contextWindow, maxOutputTokens } = priced;
    if (!strict) {
      const most = outputTokens ?? Math.min(usual, maxOutputTokens ?? usual);
      return { ...addUsage(this.known, this.fresh), ...dearestOutput(priced, most) };
    }
    const most = outputTokens ?? maxOutputTokens;
    if (contextWindow === undefined) throw refuseUnlimited(priced, 'context_window');
    if (most === undefined) throw refuseUnlimited(priced, 'max_output_tokens');
    return { ...dearestInput(priced, contextWindow), ...dearestOutput(priced, most) };
  }

  /** What an answer read that never told it. */
  get read(): Usage {
    return addUsage(this.known, this.fresh);
  }
}

/** Everything of an answer, at the full price of reading it. */
function asInput(usage: Usage): Usage {
  const { cacheReadAudioTokens = 0, inputImageTokens = 0, cacheReadImageTokens = 0 } = usage;
  const images = inputImageTokens + cacheReadImageTokens;
  return {
    ...ZERO_USAGE,
    inputTokens: usage.inputTokens + usage.cacheReadTokens + usage.outputTokens + usage.reasoningTokens,
    inputAudioTokens: usage.inputAudioTokens + cacheReadAudioTokens + usage.outputAudioTokens,
    ...(images === 0 ? {} : { inputImageTokens: images }),
  };
}

function dearestInput({ prices }: PricedModel, tokens: number): Usage {
  const each = pricesIn(prices, { promptTokens: tokens });
  const most = Math.max(each.input, each.input_audio, each.input_image);
  if (most === each.input_audio) return { ...ZERO_USAGE, inputAudioTokens: tokens };
  return most === each.input ? { ...ZERO_USAGE, inputTokens: tokens } : { ...ZERO_USAGE, inputImageTokens: tokens };
}

function dearestOutput({ prices }: PricedModel, tokens: number): Partial<Usage> {
  const each = pricesIn(prices, { promptTokens: 0 });
  return each.output_audio > each.output ? { outputAudioTokens: tokens } : { outputTokens: tokens };
}

/** Audio tokens of a second of the caller's speech, and text tokens of what is said in it, at most. */
const HEARD_TOKENS = { audio: 32, text: 10 };

/** What writing down so many seconds costs at most, in the units of the model. */
export function boundHearing({ prices }: PricedModel, seconds: number, promptBytes = 0): Usage {
  const exact = Math.ceil(seconds * 1000) / 1000;
  if (prices.minute !== undefined || prices.second !== undefined) return { ...ZERO_USAGE, units: { seconds: exact } };
  return {
    ...ZERO_USAGE,
    inputTokens: promptBytes,
    inputAudioTokens: Math.ceil(HEARD_TOKENS.audio * seconds),
    outputTokens: Math.ceil(HEARD_TOKENS.text * seconds),
  };
}
