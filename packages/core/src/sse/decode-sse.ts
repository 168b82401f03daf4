import { freeBytes } from '../async/time-slices';
import { BOM, CR, DATA_FIELD, DATA_START, EVENT_FIELD, EVENT_START, LF, startsWith, valueStart } from './event-lines';
import { PlainText } from './plain-text';
import { type SseEvent, SseEventList, type SseSink } from './sse-event';

export type { SseEvent };

/** An event larger than the decoder's bound: the peer is broken or hostile. */
export class SseEventTooLargeError extends Error {
  override readonly name = 'SseEventTooLargeError';
}

const DEFAULT_MAX_EVENT_BYTES = 16 * 1024 * 1024;
const MIN_CAPACITY = 4096;
const EMPTY = new Uint8Array(0);
const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Incremental decoder of `text/event-stream` bytes: any chunking of the same bytes gives the same events. Lines end in
 * LF, CRLF or CR; text is decoded once per event, so characters may be split anywhere.
 * Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */
export class SseDecoder {
  /** Bytes from `start` to `end` are the current event; earlier bytes were returned and never change. */
  private buffer: Uint8Array = EMPTY;
  /** The buffer up to `end`, so that searches never read spare room. */
  private filled: Uint8Array = EMPTY;
  private owned = false;
  /** Events given out read the buffer still. */
  private isShared = false;
  private start = 0;
  private end = 0;
  private lineStart = 0;
  /** Position to resume the search for a line end. */
  private scan = 0;
  private bomChecked = false;
  /** The last line ended in the chunk's last CR: a line feed right after it belongs to it. */
  private skipLineFeed = false;
  private dataLines: string[] = [];
  /** Offsets of the only data line so far, from `start`; -1 = none, or several, in `dataLines`. */
  private dataFrom = -1;
  private dataTo = -1;
  private eventName: string | undefined;
  private plain = true;

  constructor(private readonly maxEventBytes = DEFAULT_MAX_EVENT_BYTES) {}

  /** The events that `chunk` completes, in order. Throws `SseEventTooLargeError`. The chunk must not change later. */
  push(chunk: Uint8Array): SseEvent[] {
    const list = new SseEventList();
    this.feed(chunk, list);
    return list.events;
  }

  /** The same, for a sink that may have seen enough of one event to take those behind it at once. */
  feed(chunk: Uint8Array, events: SseSink): void {
    if (chunk.length === 0) return;
    this.append(chunk);
    if (!this.bomChecked && !this.checkBom(false)) return;
    const mayHaveCr = this.filled.indexOf(CR, this.scan) !== -1;
    do {
      this.takePlain(events, mayHaveCr);
    } while (this.lineStart < this.end && this.nextLine(events, mayHaveCr));
    if (this.end - this.start > this.maxEventBytes) this.refuse();
  }

  /** The connection ended: returns the last event, even without its empty line. */
  flush(): SseEvent[] {
    if (!this.bomChecked) this.checkBom(true);
    const list = new SseEventList();
    if (this.lineStart < this.end) this.takeLine(this.end, this.end, list);
    this.plain = false;
    this.dispatch(this.end, list);
    return list.events;
  }

  private append(chunk: Uint8Array): void {
    const pending = this.end - this.start;
    if (pending === 0) {
      this.buffer = chunk;
      this.owned = false;
      this.filled = chunk;
      this.start = 0;
      this.lineStart = 0;
      this.scan = 0;
      this.end = chunk.length;
      return;
    }
    const needed = pending + chunk.length;
    if (!this.owned || this.end + chunk.length > this.buffer.length) {
      const grown = new Uint8Array(Math.max(MIN_CAPACITY, needed, Math.min(2 * needed, this.maxEventBytes)));
      grown.set(this.buffer.subarray(this.start, this.end));
      this.leave();
      this.buffer = grown;
      this.owned = true;
      this.moveTo(0);
      this.end = pending;
    }
    this.buffer.set(chunk, this.end);
    this.end += chunk.length;
    this.filled = this.buffer.subarray(0, this.end);
  }

  /** Drops this buffer: a long event would leave several behind. */
  private leave(): void {
    if (this.owned && !this.isShared) freeBytes(this.buffer);
    this.isShared = false;
  }

  private refuse(): never {
    this.leave();
    this.buffer = EMPTY;
    this.filled = EMPTY;
    this.restartAt(0);
    this.end = 0;
    this.dataFrom = -1;
    this.dataLines = [];
    throw new SseEventTooLargeError(`A server-sent event is larger than ${this.maxEventBytes} bytes.`);
  }

  /** Shifts all positions so that the event being read begins at `start`. */
  private moveTo(start: number): void {
    this.lineStart += start - this.start;
    this.scan += start - this.start;
    this.start = start;
  }

  /** False while the first bytes may still turn out to be a byte order mark. */
  private checkBom(ended: boolean): boolean {
    const { buffer, end } = this;
    for (let i = 0; i < BOM.length; i++) {
      if (i >= end) {
        if (!ended) return false;
        break;
      }
      if (buffer[i] !== BOM[i]) break;
      if (i === BOM.length - 1) this.restartAt(BOM.length);
    }
    this.bomChecked = true;
    return true;
  }

  private restartAt(position: number): void {
    this.start = position;
    this.lineStart = position;
    this.scan = position;
  }

  /** Takes whole events of one data line each, perhaps with a name before, from where an event begins: most are such. */
  private takePlain(events: SseSink, mayHaveCr: boolean): void {
    if (this.lineStart !== this.start || this.skipLineFeed) return;
    const text = new PlainText(UTF8, this.filled, this.start);
    while (this.start < this.end && (this.takeRun(events, text) || this.takeOne(events, text, mayHaveCr)));
  }

  /** Nothing is decoded before a line has ended: the chunks of a long event would be decoded again and again. */
  private takeRun(events: SseSink, text: PlainText): boolean {
    if (events.takeRun === undefined || this.filled.indexOf(LF, this.scan) === -1) return false;
    const { start } = this;
    const whole = text.whole();
    const end = whole === undefined ? start : text.first + events.takeRun(whole, start - text.first);
    if (end === start) return false;
    events.giveRun?.(this.buffer.subarray(start, end));
    this.isShared = true;
    this.restartAt(end);
    return true;
  }

  private takeOne(events: SseSink, text: PlainText, mayHaveCr: boolean): boolean {
    const { buffer, filled, start } = this;
    let event: string | undefined;
    let line = start;
    if (filled[line] === EVENT_START[0]) {
      const end = this.endOfLine(line, EVENT_START, mayHaveCr);
      if (end === -1) return false;
      event = text.of(line + EVENT_START.length, end);
      line = filled[end] === LF ? end + 1 : end + 2;
    }
    const end = this.endOfLine(line, DATA_START, mayHaveCr);
    if (end === -1) return false;
    const empty = filled[end] === LF ? end + 1 : end + 2;
    const next = filled[empty] === CR ? empty + 2 : empty + 1;
    if (filled[next - 1] !== LF) return false;
    const isRaw = event === undefined && next === end + 2;
    const raw = isRaw ? buffer.subarray(start, next) : undefined;
    this.isShared ||= isRaw;
    this.restartAt(next);
    events.take({ event, data: text.of(line + DATA_START.length, end), raw });
    return true;
  }

  /** Where the line from `at` ends, by a line feed or both; -1 for one that begins otherwise, or isn't complete. */
  private endOfLine(at: number, begin: readonly number[], mayHaveCr: boolean): number {
    const { filled } = this;
    for (let i = 0; i < begin.length; i++) if (filled[at + i] !== begin[i]) return -1;
    const from = Math.max(this.scan, at + begin.length);
    const lf = filled.indexOf(LF, from);
    const cr = mayHaveCr ? filled.indexOf(CR, from) : -1;
    if (cr === -1 || cr > lf) return lf;
    return cr === lf - 1 ? cr : -1;
  }

  /** Takes one complete line; false when there is none. */
  private nextLine(events: SseSink, mayHaveCr: boolean): boolean {
    const { buffer, end } = this;
    if (this.skipLineFeed && this.lineStart < end) {
      this.skipLineFeed = false;
      if (buffer[this.lineStart] === LF) {
        if (this.lineStart === this.start) this.start += 1;
        this.lineStart += 1;
        this.scan = Math.max(this.scan, this.lineStart);
      }
    }
    const lf = this.filled.indexOf(LF, this.scan);
    const cr = mayHaveCr ? this.filled.indexOf(CR, this.scan) : -1;
    if (cr !== -1 && (lf === -1 || cr < lf)) {
      this.plain = false;
      if (cr + 1 === end) this.skipLineFeed = true;
      this.takeLine(cr, lf === cr + 1 ? cr + 2 : cr + 1, events);
      return this.lineStart < this.end;
    }
    if (lf === -1) {
      this.scan = end;
      return false;
    }
    this.takeLine(lf, lf + 1, events);
    return this.lineStart < this.end;
  }

  private takeLine(lineEnd: number, next: number, events: SseSink): void {
    const from = this.lineStart;
    this.lineStart = next;
    this.scan = next;
    if (lineEnd === from) this.dispatch(next, events);
    else this.takeField(from, lineEnd);
  }

  private takeField(from: number, to: number): void {
    const { buffer } = this;
    if (startsWith(buffer, from, to, DATA_FIELD)) {
      this.takeData(from, valueStart(buffer, from + DATA_FIELD.length, to), to);
      return;
    }
    this.plain = false;
    if (startsWith(buffer, from, to, EVENT_FIELD)) {
      this.eventName = UTF8.decode(buffer.subarray(valueStart(buffer, from + EVENT_FIELD.length, to), to));
    } else if (this.dataFrom === -1 && this.dataLines.length === 0 && this.eventName === undefined) {
      // Drops a comment at once, so that endless keep-alives cost no memory.
      this.restartAt(this.lineStart);
      this.plain = true;
    }
  }

  private takeData(lineFrom: number, from: number, to: number): void {
    if (this.dataFrom === -1 && this.dataLines.length === 0) {
      this.dataFrom = from - this.start;
      this.dataTo = to - this.start;
      this.plain &&= lineFrom === this.start;
      return;
    }
    this.plain = false;
    if (this.dataFrom !== -1) {
      this.dataLines.push(this.decode(this.start + this.dataFrom, this.start + this.dataTo));
      this.dataFrom = -1;
    }
    this.dataLines.push(this.decode(from, to));
  }

  private dispatch(lineEnd: number, events: SseSink): void {
    const next = this.afterEmptyLines(lineEnd);
    if (this.dataFrom !== -1 || this.dataLines.length > 0) {
      const data =
        this.dataFrom === -1
          ? this.dataLines.join('\n')
          : this.decode(this.start + this.dataFrom, this.start + this.dataTo);
      const raw = this.plain ? this.buffer.subarray(this.start, next) : undefined;
      this.isShared ||= this.plain;
      events.take({ event: this.eventName, data, raw });
      this.dataFrom = -1;
      if (this.dataLines.length > 0) this.dataLines = [];
    }
    this.eventName = undefined;
    this.plain = true;
    this.restartAt(next);
  }

  /** Skips consecutive empty lines cheaply, in case a vendor sends nothing else. */
  private afterEmptyLines(lineEnd: number): number {
    const isIdle = this.dataFrom === -1 && this.dataLines.length === 0;
    if (!isIdle || this.skipLineFeed) return lineEnd;
    const { buffer, end } = this;
    let next = lineEnd;
    while (next < end && buffer[next] === LF) next += 1;
    return next;
  }

  private decode(from: number, to: number): string {
    return UTF8.decode(this.buffer.subarray(from, to));
  }
}
