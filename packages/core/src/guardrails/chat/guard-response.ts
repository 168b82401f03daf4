import { isObject, type JsonObject, type JsonValue, present } from '../../chat/json';
import type { ToolCall } from '../../chat/request';
import type { ChatChoice, ChatResponse } from '../../chat/response';
import type { Usage } from '../../chat/usage';
import type { RequestGuard } from '../request-guard';
import { GuardedTexts } from './guard-texts';
import { replaceTexts } from './string-tree';
import { isKnownName } from './vocabulary';

/** Token probabilities repeat the text in pieces that can't be judged. */
export const LOGPROBS = 'logprobs';

/**
 * Judges all forms of a whole answer and restores pseudonyms. Returns the same object if clean. Throws
 * `guardrail_blocked` or `AnswerRefused`.
 */
export async function guardResponse(
  guard: RequestGuard,
  response: ChatResponse,
  texts: GuardedTexts = new GuardedTexts(guard, 'output'),
): Promise<ChatResponse> {
  const choices: ChatChoice[] = [];
  for (const choice of response.choices) choices.push(await guardChoice(guard, texts, choice));
  const extra = await guardExtra(guard, texts, response.extra);
  const { id: givenId, model: givenModel } = response;
  const id = givenId && (await texts.id(givenId));
  const model = givenModel && (await texts.id(givenModel));
  const createdSeconds = await guardTime(texts, response.createdSeconds);
  const usage = response.usage && (await guardUsage(texts, response.usage));
  const isNamed = id === givenId && model === givenModel;
  const isCounted = createdSeconds === response.createdSeconds && usage === response.usage;
  const isSame =
    isNamed &&
    isCounted &&
    extra === response.extra &&
    choices.every((choice, index) => choice === response.choices[index]);
  return isSame ? response : present({ ...response, id, model, createdSeconds, usage, choices, extra });
}

/** Creation time of an answer; undefined if it carries anything else. */
export async function guardTime(texts: GuardedTexts, seconds: number | undefined): Promise<number | undefined> {
  const judged: JsonValue | undefined = await texts.value<JsonValue | undefined>(seconds);
  return typeof judged === 'number' ? judged : undefined;
}

/** Counts contain no text; the tier is the vendor's word. */
export async function guardUsage(texts: GuardedTexts, usage: Usage): Promise<Usage> {
  const serviceTier = await texts.value(usage.serviceTier, undefined, 'service_tier');
  return serviceTier === usage.serviceTier ? usage : present({ ...usage, serviceTier });
}

async function guardChoice(guard: RequestGuard, texts: GuardedTexts, choice: ChatChoice): Promise<ChatChoice> {
  const one = async (text: string) => guard.restore(await texts.text(text, 'assistant'));
  const { text: said, reasoning: thought, refusal: refused, choiceExtra: fields } = choice;
  const text = said === null ? null : await one(said);
  const reasoning = thought === undefined ? undefined : await one(thought);
  const refusal = refused === undefined ? undefined : await one(refused);
  const toolCalls = choice.toolCalls && (await guardCalls(guard, texts, choice.toolCalls));
  const messageExtra = await guardExtra(guard, texts, choice.messageExtra);
  const choiceExtra = await guardExtra(guard, texts, guard.guardrails.acts ? withoutLogprobs(fields) : fields);
  const raw = choice.raw && (await guardBlocks(guard, texts, choice.raw));
  const reasoningDetails = choice.reasoningDetails && (await guardDetails(guard, texts, choice.reasoningDetails));
  const nativeFinishReason = choice.nativeFinishReason && (await texts.id(choice.nativeFinishReason));
  const isSame =
    nativeFinishReason === choice.nativeFinishReason &&
    text === said &&
    reasoning === thought &&
    refusal === refused &&
    toolCalls === choice.toolCalls &&
    messageExtra === choice.messageExtra &&
    choiceExtra === choice.choiceExtra &&
    raw === choice.raw &&
    reasoningDetails === choice.reasoningDetails;
  if (isSame) return choice;
  const changed = {
    ...{ text, reasoning, refusal, toolCalls, messageExtra, choiceExtra, raw, reasoningDetails, nativeFinishReason },
  };
  return present({ ...choice, ...changed });
}

function withoutLogprobs(fields: ChatChoice['choiceExtra']): ChatChoice['choiceExtra'] {
  if (fields?.[LOGPROBS] == null) return fields;
  const { [LOGPROBS]: _dropped, ...rest } = fields;
  return rest;
}

async function guardCalls(
  guard: RequestGuard,
  texts: GuardedTexts,
  calls: readonly ToolCall[],
): Promise<readonly ToolCall[]> {
  const judged: ToolCall[] = [];
  for (const call of calls) {
    const isText = call.custom === true;
    const asked = call.arguments;
    const passed = await (isText ? texts.text(asked, 'tool_arguments') : texts.json(asked, 'tool_arguments'));
    const given = guard.restore(passed, isText ? 'plain' : 'json');
    const [id, name] = [await texts.id(call.id), await texts.id(call.name)];
    const signature = call.signature && (await texts.sealed(call.signature));
    const isSame = given === call.arguments && id === call.id && name === call.name && signature === call.signature;
    judged.push(isSame ? call : present({ ...call, id, name, arguments: given, signature }));
  }
  return judged.some((call, index) => call !== calls[index]) ? judged : calls;
}

/** A value of the vendor's own, each text of it judged, and restored. */
export async function guardValue<T extends JsonValue>(guard: RequestGuard, texts: GuardedTexts, value: T): Promise<T> {
  const judged = await texts.value(value, 'assistant');
  return guard.hasPseudonyms ? replaceTexts(judged, (text) => guard.restore(text)) : judged;
}

/** A judged field name of a vendor. */
export async function guardName(guard: RequestGuard, texts: GuardedTexts, name: string): Promise<string> {
  if (isKnownName(name)) return name;
  const [written = name] = Object.keys(await guardValue(guard, texts, { [name]: null }));
  return written;
}

async function guardExtra<T extends ChatChoice['messageExtra']>(
  guard: RequestGuard,
  texts: GuardedTexts,
  extra: T,
): Promise<T> {
  if (extra === undefined) return extra;
  const call = extra.function_call;
  if (isObject(call) && typeof call.arguments === 'string') await texts.json(call.arguments, 'tool_arguments');
  return (await guardValue(guard, texts, extra as JsonObject)) as T;
}

/** A vendor's answer without token probabilities; the same one if it has none. */
export function withoutTokens<T extends JsonValue>(value: T): T {
  return strip(value) as T;
}

const TOKEN_LISTS: ReadonlySet<string> = new Set([LOGPROBS, 'logprobsResult', 'logprobs_result']);

function strip(value: JsonValue): JsonValue {
  if (Array.isArray(value)) {
    const items = value.map(strip);
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (!isObject(value)) return value;
  let changed = false;
  const entries = Object.entries(value).map(([name, one]) => {
    const kept = TOKEN_LISTS.has(name) && one !== null && typeof one === 'object' ? emptied(one) : strip(one);
    changed ||= kept !== one;
    return [name, kept] as const;
  });
  return changed ? Object.fromEntries(entries) : value;
}

const emptied = (list: JsonValue): JsonValue => {
  if (!Array.isArray(list)) return null;
  return list.length === 0 ? list : [];
};

type Raw = NonNullable<ChatChoice['raw']>;

/** Judges the texts of a message's vendor blocks as adjacent ones. */
export async function guardBlocks(guard: RequestGuard, texts: GuardedTexts, raw: Raw): Promise<Raw> {
  const { content, parts, output } = raw.value;
  const judge = async () => {
    await guardJoined(texts, content);
    await guardJoined(texts, parts);
    for (const blocks of [content, output]) await guardInputs(texts, blocks);
    return guardValue(guard, texts, guard.guardrails.acts ? withoutTokens(raw.value) : raw.value);
  };
  // Differently cut texts that together repeat the judged ones.
  const isKnown = [...textsOf(content), ...textsOf(parts), ...textsOfItems(output)].every((text) =>
    texts.isJudged(text),
  );
  const value = await (isKnown ? judge() : guard.judgeAgain('blocks', judge));
  return value === raw.value ? raw : { ...raw, value };
}

/** Judges inputs of calls in blocks as tool arguments. */
async function guardInputs(texts: GuardedTexts, blocks: JsonValue | undefined): Promise<void> {
  for (const block of Array.isArray(blocks) ? blocks.filter(isObject) : [])
    await texts.value(block.arguments ?? block.input, 'tool_arguments', 'input');
}

async function guardDetails(
  guard: RequestGuard,
  texts: GuardedTexts,
  details: readonly JsonObject[],
): Promise<readonly JsonObject[]> {
  await guardJoined(texts, [...details]);
  const judged: JsonObject[] = [];
  for (const detail of details) judged.push(await guardValue(guard, texts, detail));
  return judged.some((detail, index) => detail !== details[index]) ? judged : details;
}

async function guardJoined(texts: GuardedTexts, blocks: JsonValue | undefined): Promise<void> {
  if (Array.isArray(blocks) && blocks.length > 1) await texts.texts(textsOf(blocks), 'assistant');
}

function textsOf(blocks: JsonValue | undefined): readonly string[] {
  if (!Array.isArray(blocks)) return [];
  const said = blocks.flatMap((block) => (isObject(block) ? [block.text ?? block.thinking] : []));
  return said.filter((text) => typeof text === 'string');
}

function textsOfItems(items: JsonValue | undefined): readonly string[] {
  if (!Array.isArray(items)) return [];
  return items.filter(isObject).flatMap(({ content, summary, arguments: args, input }) => {
    const given = [args, input].filter((one) => typeof one === 'string');
    return [...textsOf(content), ...textsOf(summary), ...given];
  });
}
