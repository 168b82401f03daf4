import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ToolCall } from '@llm0/core/chat/request';
import { isObject } from '../read-fields';
import { sealReasoning } from '../seal-reasoning';
import type { EventWriter } from './event-writer';
import type { ToolPlace } from './namespaces';

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** One item of an answer. With a writer, every step is written. */
export abstract class OutputItem {
  protected status: ItemStatus = 'in_progress';
  /** Position of its pieces, as JSON text. */
  protected readonly place: string;

  constructor(
    protected readonly id: string,
    private readonly index: number,
    protected readonly writer: EventWriter | undefined,
  ) {
    this.place = `"item_id":${JSON.stringify(id)},"output_index":${index}`;
  }

  open(): void {
    this.writer?.writeFields('response.output_item.added', { output_index: this.index, item: this.toJson() });
  }

  close(status: ItemStatus): void {
    if (this.status !== 'in_progress') return;
    this.status = status;
    this.end();
    this.writer?.writeFields('response.output_item.done', { output_index: this.index, item: this.toJson() });
  }

  abstract toJson(): JsonObject;
  protected abstract end(): void;

  protected writeFields(type: string, fields: object): void {
    this.writer?.writeFields(type, { item_id: this.id, output_index: this.index, ...fields });
  }

  protected write(type: string, inner: string): void {
    this.writer?.write(type, `${this.place},${inner}`);
  }
}

type PartKind = 'output_text' | 'refusal';

interface Part {
  readonly kind: PartKind;
  readonly texts: string[];
  /** The vendor's own item. */
  native?: JsonObject;
}

export interface MessageMarks {
  readonly logprobs: readonly JsonValue[];
  /** Fields of a vendor's message that our own types do not hold. */
  readonly extra: JsonObject;
}

export class MessageItem extends OutputItem {
  private readonly parts: Part[] = [];
  private logprobs: readonly JsonValue[] = [];
  private annotations: JsonValue[] = [];
  private extra: JsonObject = {};

  addText(kind: PartKind, text: string): void {
    const last = this.parts.at(-1);
    const part = last?.kind === kind ? last : this.openPart(kind);
    if (text === '') return;
    part.texts.push(text);
    const tail = kind === 'output_text' ? ',"logprobs":[]' : '';
    this.write(`response.${kind}.delta`, `${this.partPlace()},"delta":${JSON.stringify(text)}${tail}`);
  }

  /** Completes the open text from the vendor's own message. */
  goOn({ content, ...fields }: JsonObject): void {
    if (this.status !== 'in_progress') return;
    const parts = Array.isArray(content) ? content.filter(isObject) : [];
    const open = Math.max(0, this.parts.length - 1);
    for (const [index, native] of parts.entries()) if (index >= open) this.addNative(native, index);
    this.extra = fields;
  }

  private addNative(native: JsonObject, index: number): void {
    const kind = native.type === 'refusal' ? 'refusal' : 'output_text';
    const text = String((kind === 'refusal' ? native.refusal : native.text) ?? '');
    const part = this.parts[index] ?? this.openPart(kind);
    const said = joined(part.texts);
    if (part.kind !== kind || !text.startsWith(said)) return;
    this.addText(kind, text.slice(said.length));
    const annotations = Array.isArray(native.annotations) ? native.annotations : [];
    for (const [annotation_index, annotation] of annotations.entries()) {
      const place = { content_index: index, annotation_index };
      this.writeFields('response.output_text.annotation.added', { ...place, annotation });
    }
    part.native = native;
  }

  /** Call before closing. */
  addMarks({ logprobs, extra }: MessageMarks): void {
    const { annotations, ...others } = extra;
    this.logprobs = logprobs;
    this.extra = others;
    if (Array.isArray(annotations)) this.annotations = annotations.map(flatAnnotation);
  }

  toJson(): JsonObject {
    const content = this.parts.map((part) => this.partJson(part));
    return { ...this.extra, id: this.id, type: 'message', status: this.status, role: 'assistant', content };
  }

  protected end(): void {
    this.endPart();
  }

  private partPlace(): string {
    return `"content_index":${this.parts.length - 1}`;
  }

  private openPart(kind: PartKind): Part {
    this.endPart();
    const part: Part = { kind, texts: [] };
    this.parts.push(part);
    this.write('response.content_part.added', `${this.partPlace()},"part":${JSON.stringify(this.partJson(part))}`);
    return part;
  }

  private partJson(part: Part): JsonObject {
    if (part.native !== undefined) return part.native;
    const text = joined(part.texts);
    if (part.kind === 'refusal') return { type: 'refusal', refusal: text };
    const isMarked = part === this.parts.findLast(({ kind }) => kind === 'output_text');
    return {
      type: 'output_text',
      text,
      annotations: isMarked ? this.annotations : [],
      logprobs: isMarked ? [...this.logprobs] : [],
    };
  }

  private endPart(): void {
    const part = this.parts.at(-1);
    if (part === undefined || this.writer === undefined) return;
    const { type: _type, annotations: _annotations, ...fields } = this.partJson(part);
    const place = { content_index: this.parts.length - 1 };
    this.writeFields(`response.${part.kind}.done`, { ...place, ...fields });
    this.writeFields('response.content_part.done', { ...place, part: this.partJson(part) });
  }
}

/** Joins the pieces once, because the end repeats them several times. */
export function joined(texts: string[]): string {
  if (texts.length > 1) texts.splice(0, texts.length, texts.join(''));
  return texts[0] ?? '';
}

/** `{type, url_citation: {…}}` of the older format is flat in this one. */
function flatAnnotation(value: JsonValue): JsonValue {
  const inner = isObject(value) && typeof value.type === 'string' ? value[value.type] : undefined;
  return isObject(value) && isObject(inner) ? { type: value.type ?? '', ...inner } : value;
}

/** Reasoning, shown as a summary that clients of this format read. Vendors' blocks travel sealed. */
export class ReasoningItem extends OutputItem {
  private readonly texts: string[] = [];
  private readonly details: JsonObject[] = [];

  addText(text: string): void {
    if (text === '') return;
    if (this.texts.length === 0) {
      this.write('response.reasoning_summary_part.added', '"summary_index":0,"part":{"type":"summary_text","text":""}');
    }
    this.texts.push(text);
    this.write('response.reasoning_summary_text.delta', `"summary_index":0,"delta":${JSON.stringify(text)}`);
  }

  addDetail(detail: JsonObject): void {
    this.details.push(detail);
  }

  toJson(): JsonObject {
    return {
      id: this.id,
      type: 'reasoning',
      summary: this.texts.length === 0 ? [] : [{ type: 'summary_text', text: joined(this.texts) }],
      ...(this.details.length === 0 ? {} : { encrypted_content: sealReasoning(this.details) }),
      status: this.status,
    };
  }

  protected end(): void {
    if (this.texts.length === 0) return;
    const text = joined(this.texts);
    const part = { type: 'summary_text', text };
    this.writeFields('response.reasoning_summary_text.done', { summary_index: 0, text });
    this.writeFields('response.reasoning_summary_part.done', { summary_index: 0, part });
  }
}

export interface CallStart {
  readonly id: string;
  readonly index: number;
  readonly call: Pick<ToolCall, 'id' | 'name' | 'custom' | 'signature'>;
  /** Set for a tool within a group. */
  readonly place?: ToolPlace;
}

export class CallItem extends OutputItem {
  private readonly texts: string[] = [];
  private readonly call: CallStart['call'];
  private readonly tool: ToolPlace;

  constructor({ id, index, call, place = { name: call.name } }: CallStart, writer: EventWriter | undefined) {
    super(id, index, writer);
    this.call = call;
    this.tool = place;
  }

  addText(text: string): void {
    if (text === '') return;
    this.texts.push(text);
    this.write(`response.${this.eventName()}.delta`, `"delta":${JSON.stringify(text)}`);
  }

  toJson(): JsonObject {
    const { call } = this;
    const text = joined(this.texts);
    return {
      id: this.id,
      type: call.custom === true ? 'custom_tool_call' : 'function_call',
      status: this.status,
      ...(call.custom === true ? { input: text } : { arguments: text }),
      call_id: call.id,
      ...this.tool,
      ...(call.signature === undefined ? {} : { signature: call.signature }),
    };
  }

  protected end(): void {
    const text = joined(this.texts);
    const fields = this.call.custom === true ? { input: text } : { arguments: text, name: this.tool.name };
    this.writeFields(`response.${this.eventName()}.done`, fields);
  }

  private eventName(): string {
    return this.call.custom === true ? 'custom_tool_call_input' : 'function_call_arguments';
  }
}
