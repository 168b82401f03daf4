import type { JsonObject, JsonValue } from '../chat/json';
import { type Usage, ZERO_USAGE } from '../chat/usage';
import { boundTokens, type TaskRequest } from './task-request';

/** A text or picture to be judged, as OpenAI's parts of content. */
export type ModerationPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly url: string };

export interface ModerationRequest extends TaskRequest {
  readonly stream: false;
  /** Judged one by one; in a list with pictures, all parts together. */
  readonly inputs: readonly ModerationPart[];
  /** All parts are one input. */
  readonly isOne: boolean;
}

/** One verdict for each input: `flagged`, `categories`, `category_scores`, … */
export interface ModerationAnswer extends JsonObject {
  results: JsonValue[];
}

/** The most a vendor bills. */
export function boundModeration({ inputs }: ModerationRequest, strict: boolean): Usage {
  const texts = inputs.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return { ...ZERO_USAGE, inputTokens: Math.max(1, boundTokens(texts, strict)) };
}
