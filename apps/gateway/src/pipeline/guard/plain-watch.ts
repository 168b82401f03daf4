import type { WirePart } from '@llm0/core/chat/event';
import { isObject, type JsonObject, parseJson } from '@llm0/core/chat/json';
import type { Dialect, OwnParts } from '../../dialects/dialect';

/** Tells whether our events can express a native stream in its order. */
export class PlainWatch {
  private readonly begun: JsonObject[] = [];
  private wasPlain = true;

  constructor(private readonly dialect: Pick<Dialect, 'wireFormat' | 'ownParts'>) {}

  /** `wire`: whole events, in order. False from the first one on that is not plain. */
  isPlain(wire: WirePart | undefined): boolean {
    const { ownParts, wireFormat } = this.dialect;
    const isRead = ownParts !== undefined && wire?.kind === 'bytes' && wire.format === wireFormat;
    if (!this.wasPlain || !isRead) return this.wasPlain;
    const { bytes } = wire;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
    this.addBegun(text, ownParts);
    this.wasPlain = ownParts.isPlain(this.begun) && !ownParts.foreign.some((mark) => text.includes(mark));
    return this.wasPlain;
  }

  private addBegun(text: string, { begins, member }: OwnParts): void {
    if (!text.includes(begins)) return;
    for (const line of text.split('\n')) {
      if (!line.startsWith('data:') || !line.includes(begins)) continue;
      const event = parseJson(line.slice('data:'.length));
      const part = isObject(event) && event.type === begins ? event[member] : undefined;
      if (isObject(part)) this.begun.push(part);
    }
  }
}
