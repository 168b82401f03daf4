import type { JsonObject, JsonValue } from '../chat/json';
import { type Usage, ZERO_USAGE } from '../chat/usage';
import type { PricedModel } from '../pricing/price-book';
import { boundTokens, refuseUnbounded, type TaskRequest } from './task-request';

/** Questions about one input, answered with probabilities. */
export interface DecisionRequest extends TaskRequest {
  readonly stream: false;
  /** A text, or messages and calls of tools, as OpenAI's Responses API has them. */
  readonly input: JsonValue;
  /** Never empty. */
  readonly questions: readonly JsonObject[];
}

/** One answer for each question, in their order. */
export interface DecisionAnswer extends JsonObject {
  answers: JsonValue[];
}

/** Reasoning included. */
const TOKENS_PER_QUESTION = 200;
const TOKENS_PER_PICTURE = 1500;
const BASE64 = /^data:[\w/+.-]{1,80};base64,/;

/** The most that a model bills; throws under strict caps where that has no bound. */
export function boundDecision(request: DecisionRequest, priced: PricedModel, strict: boolean): Usage {
  const { input, questions } = request;
  const found = { texts: [] as string[], pictures: 0 };
  findTexts([input, [...questions]], found);
  if (strict && found.pictures > 0) throw refuseUnbounded('input', 'a picture');
  if (strict && priced.maxOutputTokens === undefined) {
    throw refuseUnbounded('model', `${priced.provider}/${priced.model}, which has no "max_output_tokens",`);
  }
  const guess = TOKENS_PER_QUESTION * questions.length;
  return {
    ...ZERO_USAGE,
    inputTokens: boundTokens(found.texts, strict) + TOKENS_PER_PICTURE * found.pictures,
    outputTokens: strict ? Math.max(guess, priced.maxOutputTokens ?? 0) : guess,
  };
}

/** Names of fields count as text, because the model may read them. */
function findTexts(value: JsonValue, found: { texts: string[]; pictures: number }): void {
  if (typeof value === 'string') found.texts.push(value);
  else if (typeof value === 'number' || typeof value === 'boolean') found.texts.push(String(value));
  else if (Array.isArray(value)) for (const one of value) findTexts(one, found);
  else if (value !== null) {
    for (const [name, one] of Object.entries(value)) {
      if (name === 'image_url' && typeof one === 'string') {
        found.pictures += 1;
        if (!BASE64.test(one)) found.texts.push(one);
      } else {
        found.texts.push(name);
        findTexts(one, found);
      }
    }
  }
}

/** True if a part of the input is a picture. */
export function hasPicture({ input, questions }: Pick<DecisionRequest, 'input' | 'questions'>): boolean {
  const found = { texts: [], pictures: 0 };
  findTexts([input, [...questions]], found);
  return found.pictures > 0;
}
