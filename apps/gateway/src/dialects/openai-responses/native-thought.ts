import type { JsonObject } from '@llm0/core/chat/json';
import { BETWEEN_PARTS } from '@llm0/providers/openai/responses/wire';
import { isObject } from '../read-fields';
import type { EventWriter } from './event-writer';
import { joined, OutputItem } from './open-items';

/** Reasoning from a vendor of this format. Keeps its id, parts and sealed content; texts arrive separately. */
export class NativeThought extends OutputItem {
  private readonly parts: string[][] = [];
  /** True until the separator before this part arrives, where parts form one text. */
  private isParted = false;

  constructor(
    private native: JsonObject,
    { id, index }: { readonly id: string; readonly index: number },
    writer: EventWriter | undefined,
  ) {
    super(typeof native.id === 'string' ? native.id : id, index, writer);
  }

  /** `isParted`: its text begins with the separator from the previous part. */
  beginPart(isParted: boolean): void {
    this.endPart();
    this.parts.push([]);
    this.isParted = isParted;
    this.write('response.reasoning_summary_part.added', `${this.partPlace()},"part":{"type":"summary_text","text":""}`);
  }

  addText(text: string): void {
    if (this.parts.length === 0) this.beginPart(false);
    const isAfter = this.isParted && text.startsWith(BETWEEN_PARTS);
    const said = isAfter ? text.slice(BETWEEN_PARTS.length) : text;
    this.isParted &&= text === '';
    if (said === '') return;
    this.parts.at(-1)?.push(said);
    this.write('response.reasoning_summary_text.delta', `${this.partPlace()},"delta":${JSON.stringify(said)}`);
  }

  /** All of it is there. */
  finish(native: JsonObject): void {
    this.native = native;
    this.close(native.status === 'incomplete' ? 'incomplete' : 'completed');
  }

  /** Completes the open text from the vendor's own item. */
  goOn({ summary, ...native }: JsonObject): void {
    if (this.status !== 'in_progress') return;
    const parts = Array.isArray(summary) ? summary.filter(isObject) : [];
    for (const [index, { text }] of parts.entries()) {
      if (index < this.parts.length - 1) continue;
      if (index === this.parts.length) this.beginPart(false);
      const said = joined(this.parts[index] ?? []);
      if (typeof text === 'string' && text.startsWith(said)) this.addText(text.slice(said.length));
    }
    this.native = native;
  }

  toJson(): JsonObject {
    const { native } = this;
    const summary = this.parts.map((texts) => ({ type: 'summary_text', text: joined(texts) }));
    const told: JsonObject = { ...native, id: this.id, summary };
    return native.status === undefined ? told : { ...told, status: this.status };
  }

  protected end(): void {
    this.endPart();
  }

  private endPart(): void {
    const last = this.parts.at(-1);
    if (last === undefined) return;
    const text = joined(last);
    this.write('response.reasoning_summary_text.done', `${this.partPlace()},"text":${JSON.stringify(text)}`);
    const part = JSON.stringify({ type: 'summary_text', text });
    this.write('response.reasoning_summary_part.done', `${this.partPlace()},"part":${part}`);
  }

  private partPlace(): string {
    return `"summary_index":${this.parts.length - 1}`;
  }
}
