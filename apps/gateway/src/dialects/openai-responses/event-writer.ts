import { piecesOfJson } from '@llm0/core/chat/write-json-in-slices';

interface LateEvent {
  readonly head: string;
  /** Written between head and tail, without their braces. */
  readonly fields?: object;
  readonly tail?: string;
}

/** Writes the events of one streamed answer, numbered without a gap. */
export class EventWriter {
  private text = '';
  private sequence = 0;
  private late: LateEvent[] | undefined;

  /** Defers later events for `takeLate`. */
  beginLate(): void {
    this.late = [];
  }

  /** Writes the deferred events in time slices. */
  async takeLate(): Promise<Buffer[]> {
    const pieces: Buffer[] = [];
    for (const { head, fields, tail = '' } of this.late?.splice(0) ?? []) {
      const written = fields === undefined ? [] : withoutBraces(await piecesOfJson(fields));
      pieces.push(Buffer.from(head), ...written, Buffer.from(tail));
    }
    return pieces;
  }

  /** `inner`: the event's other fields as JSON text, without its braces. */
  write(type: string, inner: string): void {
    const head = `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.sequence}`;
    const text = `${head},${inner}}\n\n`;
    if (this.late === undefined) this.text += text;
    else this.late.push({ head: text });
    this.sequence += 1;
  }

  writeFields(type: string, fields: object): void {
    if (this.late === undefined) this.write(type, JSON.stringify(fields).slice(1, -1));
    else this.writeLate(type, '', { fields, tail: '}' });
  }

  /** After `beginLate` only: one field that is an object; `more` closes it, as text. */
  writeObject(type: string, name: string, { fields, more }: { readonly fields: object; readonly more: string }): void {
    this.writeLate(type, `"${name}":{`, { fields, tail: `,${more}}` });
  }

  private writeLate(type: string, opening: string, { fields, tail }: Required<Omit<LateEvent, 'head'>>): void {
    const head = `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.sequence},${opening}`;
    this.late?.push({ head, fields, tail: `${tail}\n\n` });
    this.sequence += 1;
  }

  /** Counts events that bypassed this writer. */
  skip(events: number): void {
    this.sequence += events;
  }

  /** Text written since the last call. */
  take(): string {
    const { text } = this;
    this.text = '';
    return text;
  }
}

function withoutBraces(pieces: Buffer[]): Buffer[] {
  const inner = pieces.slice();
  inner[0] = (inner[0] ?? Buffer.alloc(1)).subarray(1);
  const last = inner.length - 1;
  inner[last] = (inner[last] as Buffer).subarray(0, -1);
  return inner;
}
