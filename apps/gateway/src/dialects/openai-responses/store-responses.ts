import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import { ownItemId, requestIdOf } from '@llm0/core/conversations/own-ids';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { AnswerReferences, ReadTurn, ResponseStorage, StoredPart } from '../dialect';
import { isObject, readBoolean, readString } from '../read-fields';

/** Stores answers unless `store` is false. Requests continue them by their id or by ids of items. */
export const storeResponses: ResponseStorage = {
  referencesOf,
  continueFrom,
  partToKeep,
  withoutStorage: (body) => ({ ...body, store: false }),
  inputItems,
};

function referencesOf(body: JsonObject): AnswerReferences | undefined {
  const id = readString(body, 'previous_response_id');
  const itemIds = Array.isArray(body.input) ? body.input.flatMap(referenceOf) : [];
  if (id === undefined) return itemIds.length === 0 ? undefined : { itemIds };
  const previousId = requestIdOf(id);
  if (previousId === undefined) throw unknownAnswer(id);
  return { previousId, itemIds };
}

function referenceOf(item: JsonValue): string[] {
  return isObject(item) && item.type === 'item_reference' && typeof item.id === 'string' ? [item.id] : [];
}

function unknownAnswer(id: string): GatewayError {
  const message = `Previous response with id '${id.slice(0, 100)}' not found: it was never stored, or expired.`;
  return new GatewayError('not_found', message, { param: 'previous_response_id', status: 400 });
}

/** Resolves the request's references: puts earlier turns first and replaces each reference with its item. */
function continueFrom(
  body: JsonObject,
  { turns, answers }: Parameters<ResponseStorage['continueFrom']>[1],
): ReturnType<ResponseStorage['continueFrom']> {
  if (turns === undefined) throw unknownAnswer(String(body.previous_response_id));
  const earlier = turns.flatMap((turn) => [...itemsOf(turn.input), ...outputOf(turn.answer)]);
  const known = new Map<JsonValue | undefined, JsonObject>(
    [...answers.flatMap(outputOf).reverse(), ...earlier].map((item) => [item.id, item] as const),
  );
  const own = ownItems(body.input).map((item, i) => resolve(item, known, i));
  // A reference to an earlier item would duplicate it.
  const told = new Set<JsonValue | undefined>(earlier.map(({ id }) => id).filter((id) => id !== undefined));
  const added = own.filter((item, i) => !isReference(body.input, i) || !told.has((item as JsonObject).id));
  return { body: { ...body, input: [...earlier, ...added] }, earlierItems: earlier.length };
}

function isReference(input: JsonValue | undefined, index: number): boolean {
  const item = Array.isArray(input) ? input[index] : undefined;
  return isObject(item) && item.type === 'item_reference';
}

function resolve(item: JsonValue, known: ReadonlyMap<JsonValue | undefined, JsonObject>, index: number): JsonValue {
  const [id] = referenceOf(item);
  if (id === undefined) return item;
  const found = known.get(id);
  if (found !== undefined) return found;
  throw new GatewayError('not_found', `Item with id '${id.slice(0, 100)}' not found: send the item itself.`, {
    param: `input[${index}]`,
    status: 400,
  });
}

function ownItems(input: JsonValue | undefined): JsonValue[] {
  if (Array.isArray(input)) return input;
  if (typeof input !== 'string') return [];
  return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }];
}

function partToKeep(request: ChatRequest, requestId: string, answer: JsonObject): StoredPart | undefined {
  return readBoolean(bodyOf(request), 'store') === false ? undefined : partOf(request, requestId, answer);
}

const bodyOf = ({ wire }: ChatRequest): JsonObject => (wire?.format === 'openai-responses' ? wire.body : {});

/** What later requests may continue, whether it is stored or not. */
export function partOf(request: ChatRequest, requestId: string, answer: JsonObject): StoredPart {
  const body = bodyOf(request);
  const own = ownItems(body.input).slice(request.earlierItems ?? 0);
  const input = own.map((item, i) => withId(item, ownItemId(prefixOf(item), requestId, `i${i}`)));
  const previous = readString(body, 'previous_response_id');
  const previousId = previous === undefined ? undefined : requestIdOf(previous);
  const itemIds = [...input, ...itemsOfAnswer(answer)].flatMap((item) =>
    typeof item.id === 'string' ? [item.id] : [],
  );
  return { input, itemIds, ...(previousId === undefined ? {} : { previousId }) };
}

function withId(item: JsonValue, id: string): JsonObject {
  if (!isObject(item)) return { id };
  return typeof item.id === 'string' ? item : { ...item, type: item.type ?? 'message', id };
}

const PREFIXES: Readonly<Record<string, string>> = {
  function_call: 'fc',
  function_call_output: 'fco',
  reasoning: 'rs',
};

function prefixOf(item: JsonValue): string {
  const type = isObject(item) && typeof item.type === 'string' ? item.type : 'message';
  return Object.hasOwn(PREFIXES, type) ? (PREFIXES[type] ?? 'msg') : 'msg';
}

/** All that led to an answer, as the format lists it. */
function inputItems(turns: readonly ReadTurn[]): JsonObject[] {
  return turns.flatMap((turn, i) => [...itemsOf(turn.input), ...(i === turns.length - 1 ? [] : outputOf(turn.answer))]);
}

const itemsOf = (value: JsonValue | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

const outputOf = (answer: JsonValue): JsonObject[] => (isObject(answer) ? itemsOfAnswer(answer) : []);

const itemsOfAnswer = ({ output }: JsonObject): JsonObject[] => itemsOf(output);
