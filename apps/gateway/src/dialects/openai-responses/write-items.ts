import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { isObject } from '../read-fields';
import type { EventWriter } from './event-writer';

/** Writes the format's own items as events; those before `from` are already written. */
export function writeItems(writer: EventWriter, items: readonly JsonObject[], from = 0): void {
  for (const [index, item] of items.entries()) {
    if (index < from) continue;
    const write = WRITERS.get(String(item.type));
    const place: Place = { item_id: item.id ?? '', output_index: index };
    const begun = { ...item, ...(item.status === undefined ? {} : { status: 'in_progress' }) };
    const empty = write === undefined ? begun : { ...begun, ...write.empty };
    writer.writeFields('response.output_item.added', { output_index: index, item: empty });
    write?.pieces(writer, item, place);
    writer.writeFields('response.output_item.done', { output_index: index, item });
  }
}

interface Place {
  readonly item_id: JsonValue;
  readonly output_index: number;
}

interface ItemWriter {
  /** Item before its pieces. */
  readonly empty: JsonObject;
  pieces(writer: EventWriter, item: JsonObject, place: Place): void;
}

const WRITERS: ReadonlyMap<string, ItemWriter> = new Map<string, ItemWriter>([
  ['message', { empty: { content: [] }, pieces: writeContent }],
  ['reasoning', { empty: { summary: [] }, pieces: writeSummary }],
  ['function_call', { empty: { arguments: '' }, pieces: (w, item, at) => writeCall(w, item, at, 'arguments') }],
  ['custom_tool_call', { empty: { input: '' }, pieces: (w, item, at) => writeCall(w, item, at, 'input') }],
]);

function writeContent(writer: EventWriter, item: JsonObject, place: Place): void {
  for (const [content_index, part] of objectsOf(item.content).entries()) {
    const at = { ...place, content_index };
    const kind = part.type === 'refusal' ? 'refusal' : 'output_text';
    const field = kind === 'refusal' ? 'refusal' : 'text';
    const text = part[field];
    if ((part.type !== 'output_text' && part.type !== 'refusal') || typeof text !== 'string') {
      writer.writeFields('response.content_part.added', { ...at, part });
      writer.writeFields('response.content_part.done', { ...at, part });
      continue;
    }
    const logprobs = kind === 'refusal' ? {} : { logprobs: part.logprobs ?? [] };
    const marks = kind === 'refusal' ? {} : { annotations: [], logprobs: [] };
    writer.writeFields('response.content_part.added', { ...at, part: { ...part, [field]: '', ...marks } });
    writer.writeFields(`response.${kind}.delta`, { ...at, delta: text, ...logprobs });
    for (const [annotation_index, annotation] of listOf(part.annotations).entries()) {
      writer.writeFields('response.output_text.annotation.added', { ...at, annotation_index, annotation });
    }
    writer.writeFields(`response.${kind}.done`, { ...at, [field]: text, ...logprobs });
    writer.writeFields('response.content_part.done', { ...at, part });
  }
}

function writeSummary(writer: EventWriter, item: JsonObject, place: Place): void {
  for (const [summary_index, part] of objectsOf(item.summary).entries()) {
    const at = { ...place, summary_index };
    const text = part.text ?? '';
    writer.writeFields('response.reasoning_summary_part.added', { ...at, part: { ...part, text: '' } });
    writer.writeFields('response.reasoning_summary_text.delta', { ...at, delta: text });
    writer.writeFields('response.reasoning_summary_text.done', { ...at, text });
    writer.writeFields('response.reasoning_summary_part.done', { ...at, part });
  }
}

function writeCall(writer: EventWriter, item: JsonObject, place: Place, field: 'arguments' | 'input'): void {
  const event = field === 'input' ? 'response.custom_tool_call_input' : 'response.function_call_arguments';
  const text = item[field] ?? '';
  const name = field === 'input' ? {} : { name: item.name ?? '' };
  writer.writeFields(`${event}.delta`, { ...place, delta: text });
  writer.writeFields(`${event}.done`, { ...place, [field]: text, ...name });
}

const listOf = (value: JsonValue | undefined): JsonValue[] => (Array.isArray(value) ? value : []);
const objectsOf = (value: JsonValue | undefined): JsonObject[] => listOf(value).filter(isObject);
