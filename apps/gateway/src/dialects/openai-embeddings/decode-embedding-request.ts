import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { EmbeddingInput, EmbeddingRequest } from '@llm0/core/embedding/embedding-request';
import type { DecodedEmbeddingRequest } from '../dialect';
import { checkDepth, invalid, kindOf, readNumber, readString } from '../read-fields';

const KNOWN = new Set(['model', 'input', 'encoding_format', 'dimensions', 'user']);
const MAX_INPUTS = 2048;
const MAX_DIMENSIONS = 65_536;

/** Throws `invalid_request` with the field's name; keeps unknown fields. */
export function decodeEmbeddingRequest(body: JsonObject): DecodedEmbeddingRequest {
  checkDepth(body);
  const model = readString(body, 'model');
  if (model === undefined || model === '') throw invalid('model', 'Name the embedding model.');
  const format = readString(body, 'encoding_format') ?? 'float';
  if (format !== 'float' && format !== 'base64') {
    throw invalid('encoding_format', '"encoding_format" must be "float" or "base64".');
  }
  const extra: JsonObject = {};
  for (const name in body) {
    const value = body[name];
    if (!KNOWN.has(name) && value !== undefined && value !== null) extra[name] = value;
  }
  const request: EmbeddingRequest = {
    model,
    inputs: readInputs(body.input),
    dimensions: readNumber(body, 'dimensions', { min: 1, max: MAX_DIMENSIONS, integer: true }),
    user: readString(body, 'user'),
    extra,
  };
  return { request, format };
}

/** A text, the tokens of one, or a list of either. */
function readInputs(input: JsonValue | undefined): readonly EmbeddingInput[] {
  if (typeof input === 'string') return [readInput(input, 'input')];
  if (!Array.isArray(input)) throw invalid('input', `"input" must be a string or an array, but is ${kindOf(input)}.`);
  if (input.length === 0) throw invalid('input', '"input" must not be empty.');
  if (typeof input[0] === 'number') return [readInput(input, 'input')];
  if (input.length > MAX_INPUTS) {
    throw invalid('input', `"input" may have at most ${MAX_INPUTS} entries, but has ${input.length}.`);
  }
  return input.map((item, index) => readInput(item, `input.${index}`));
}

function readInput(input: JsonValue, param: string): EmbeddingInput {
  if (typeof input === 'string') {
    if (input === '') throw invalid(param, `"${param}" must not be an empty text.`);
    return input;
  }
  if (!Array.isArray(input)) throw invalid(param, `"${param}" must be a text or its tokens, but is ${kindOf(input)}.`);
  if (input.length === 0 || !input.every(isToken)) {
    throw invalid(param, `"${param}" must be tokens: whole numbers from 0, at least one.`);
  }
  return input;
}

const isToken = (value: JsonValue): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
