import { isObject, parseJson } from '@llm0/core/chat/json';

/** A usage-only event is smaller; larger ones pass at once. */
const MAX_HELD_BYTES = 8 * 1024;
const ENDS = ['\n\n', '\r\n\r\n', '\r\r'] as const;

/**
 * Removes the usage-only event from a stream: the gateway requested it, and callers may not expect a chunk without
 * choices. All other bytes stay.
 */
export class UsageEventFilter {
  private held: Buffer = Buffer.alloc(0);
  /** In the middle of an event too large to be the one. */
  private isInside = false;

  /** The bytes to forward now. */
  push(chunk: Uint8Array): Uint8Array {
    const bytes = this.held.length === 0 ? asBuffer(chunk) : Buffer.concat([this.held, chunk]);
    const find = new Detector(bytes);
    const kept: Buffer[] = [];
    let from = 0;
    let start = 0;
    for (let end = find.endOfEvent(start); end !== -1; end = find.endOfEvent(start)) {
      const mayBeUsage = !this.isInside && find.usage(start) < end;
      if (mayBeUsage && isUsageOnly(bytes.subarray(start, end))) {
        kept.push(bytes.subarray(from, start));
        from = end;
      }
      this.isInside = false;
      start = end;
    }
    if (this.isInside || bytes.length - start > MAX_HELD_BYTES) {
      // The first half of an event's separator waits for the rest.
      start = Math.max(start, bytes.length - 3);
      this.isInside = true;
    }
    kept.push(bytes.subarray(from, start));
    this.held = Buffer.from(bytes.subarray(start));
    return kept.length === 1 ? (kept[0] as Buffer) : Buffer.concat(kept);
  }

  end(): Uint8Array {
    return this.isInside || !this.held.includes('"usage"') || !isUsageOnly(this.held) ? this.held : new Uint8Array();
  }
}

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array) => Buffer.from(buffer, byteOffset, byteLength);

/** Finds events from left to right; searches each mark once, for any number of small events. */
class Detector {
  private readonly ends = ENDS.map((mark) => ({ mark, at: -1 }));
  private usageAt = -1;

  constructor(private readonly bytes: Buffer) {}

  /** End of the event that starts here; -1 if incomplete. */
  endOfEvent(start: number): number {
    let first = Number.POSITIVE_INFINITY;
    for (const end of this.ends) {
      if (end.at < start) end.at = this.find(end.mark, start);
      first = Math.min(first, end.at + end.mark.length);
    }
    return first === Number.POSITIVE_INFINITY ? -1 : first;
  }

  usage(start: number): number {
    if (this.usageAt < start) this.usageAt = this.find('"usage"', start);
    return this.usageAt;
  }

  private find(mark: string, from: number): number {
    const at = this.bytes.indexOf(mark, from);
    return at === -1 ? Number.POSITIVE_INFINITY : at;
  }
}

function isUsageOnly(event: Buffer): boolean {
  const data = event
    .toString('utf8')
    .split(/\r\n|\r|\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length))
    .join('\n');
  try {
    const value = parseJson(data);
    return isObject(value) && Array.isArray(value.choices) && value.choices.length === 0 && isObject(value.usage);
  } catch {
    return false;
  }
}
