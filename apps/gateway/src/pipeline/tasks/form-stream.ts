import type { BodyReader } from '@llm0/core/async/bounded-body';
import { ReadTurns } from '@llm0/core/async/read-turns';
import { freeBytes, letGo } from '@llm0/core/async/time-slices';
import { invalidRequest } from '@llm0/core/errors/gateway-error';
import { FormDecoder, type FormPart } from '@llm0/core/forms/decode-form';

const MAX_FIELD_BYTES = 256 * 1024;
const MAX_PARTS = 100;
/** Smaller buffers may be shared by the runtime. */
const LARGE_BYTES = 16 * 1024;

/** Of all forms: the collector notices small buffers too late. */
let bytesSinceCollection = 0;
const COLLECT_AFTER = 8 * 1024 * 1024;

/** Of all forms. */
const TURNS = new ReadTurns({ most: 8, leaseMs: 1000 });

/** `isAlone`: nothing else uses its buffer. */
export interface FormBytes {
  readonly data: Uint8Array;
  readonly isAlone: boolean;
}

type FormEvent = { readonly begin: FormPart } | FormBytes | { readonly end: true };

/** Frees what was sent or written; nobody may use it afterwards. */
export function freePiece({ data, isAlone }: FormBytes): void {
  const { buffer } = data;
  if (isAlone && buffer instanceof ArrayBuffer && buffer.byteLength >= LARGE_BYTES) buffer.transfer(0);
}

/** The parts of a form, one event at a time. */
export class FormStream {
  private readonly events: FormEvent[] = [];
  private readonly decoder: FormDecoder;
  private readonly turn = TURNS.begin();
  private parts = 0;
  private received = 0;
  private isOver = false;
  /** True while each piece leaves before the next one arrives, so reads need no turn. */
  isDrained = false;

  constructor(
    boundary: string,
    private readonly reader: BodyReader,
  ) {
    this.decoder = new FormDecoder(boundary, {
      begin: (part) => {
        this.parts += 1;
        if (this.parts > MAX_PARTS) throw invalidRequest('', `A form may have at most ${MAX_PARTS} parts.`);
        this.events.push({ begin: part });
      },
      data: (data, isAlone) => this.events.push({ data, isAlone }),
      end: () => this.events.push({ end: true }),
    });
  }

  /** undefined behind the last part; throws for a form that is cut off. */
  async next(): Promise<FormEvent | undefined> {
    while (this.events.length === 0) {
      if (this.isOver) return undefined;
      const chunk = await (this.isDrained ? this.reader.read() : this.turn.read(() => this.reader.read()));
      if (chunk === undefined) {
        this.isOver = true;
        this.turn.end();
        this.decoder.finish();
      } else {
        const collected = this.decode(chunk);
        if (collected !== undefined) await collected;
      }
    }
    return this.events.shift();
  }

  /** True while forms wait for turns. */
  get isCrowded(): boolean {
    return TURNS.isCrowded;
  }

  /** Bytes of the form up to those that `next` gave; undefined unless the part that has begun goes on behind them. */
  position(): number | undefined {
    let waiting = this.decoder.waiting;
    for (const event of this.events) {
      if (!('data' in event)) return undefined;
      waiting += event.data.byteLength;
    }
    return this.received - waiting;
  }

  private decode(chunk: Uint8Array): Promise<void> | undefined {
    this.received += chunk.byteLength;
    if (chunk.byteLength < LARGE_BYTES) bytesSinceCollection += chunk.byteLength;
    if (this.decoder.push(chunk)) freeBytes(chunk);
    if (bytesSinceCollection < COLLECT_AFTER) return undefined;
    bytesSinceCollection = 0;
    return letGo();
  }

  /** Bytes of the part that has begun; each piece is gone once the next one is asked for. */
  async *data(): AsyncGenerator<Uint8Array> {
    for (let event = await this.next(); event !== undefined && 'data' in event; event = await this.next()) {
      yield event.data;
      freePiece(event);
    }
  }

  async text(name: string): Promise<string> {
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const bytes of this.data()) {
      size += bytes.byteLength;
      if (size > MAX_FIELD_BYTES) {
        throw invalidRequest(name.slice(0, 80), `A field of this form may have at most ${MAX_FIELD_BYTES} bytes.`);
      }
      pieces.push(Buffer.from(bytes));
    }
    return Buffer.concat(pieces).toString('utf8');
  }

  cancel(): void {
    this.turn.end();
    void this.reader.cancel().catch(() => {});
  }
}
