import type { ChatEvent } from './event';
import type { ChatResponse } from './response';
import { ZERO_USAGE } from './usage';

/** Input tokens of a request, from the vendor or estimated. */
export interface InputCount {
  readonly inputTokens: number;
  /** The gateway guessed: the vendor cannot count, or not for free. */
  readonly estimated: boolean;
}

const FIELD = 'input_tokens';
const ESTIMATED_FIELD = 'estimated';

/** The answer to a request with `countOnly`: no output, no usage, nothing to pay. */
export function countEvents({ inputTokens, estimated }: InputCount): ChatEvent[] {
  return [
    { type: 'start' },
    { type: 'extra', scope: 'answer', name: FIELD, value: inputTokens },
    ...(estimated ? [{ type: 'extra', scope: 'answer', name: ESTIMATED_FIELD, value: true } as const] : []),
    { type: 'usage', usage: ZERO_USAGE },
    { type: 'finish', choice: 0, reason: 'stop' },
  ];
}

/** The count that an answer made of `countEvents` holds. */
export function readCount({ extra }: ChatResponse): InputCount {
  return { inputTokens: Number(extra?.[FIELD] ?? 0), estimated: extra?.[ESTIMATED_FIELD] === true };
}
