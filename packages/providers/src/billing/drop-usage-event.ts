import { isObject, parseJson } from '@llm0/core/chat/json';

/** An event that only tells usage is smaller; whatever is larger goes on at once. */
const MAX_HELD_BYTES = 8 * 1024;
const ENDS = ['\n\n', '\r\n\r\n', '\r\r'] as const;

/**
 * Server-sent events without the one that only tells usage: the gateway asked for it, the caller did not, and may not
 * know what to do with a chunk that has no choices. All other bytes stay as they are.
 */
export class UsageEventFilter {
  private held: Buffer = Buffer.alloc(0);
  /** In the middle of an event too large to be the one. */
  private isInside = false;

  /** The bytes that may go on now. */
  push(chunk: Uint8Array): Uint8Array {
    const kept: Buffer[] = [];
    let rest = this.held.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.held, chunk]);
    for (let end = endOfEvent(rest); end !== -1; end = endOfEvent(rest)) {
      const event = rest.subarray(0, end);
      if (this.isInside || !isUsageOnly(event)) kept.push(event);
      this.isInside = false;
      rest = rest.subarray(end);
    }
    if (this.isInside || rest.length > MAX_HELD_BYTES) {
      // What may be the first half of an event's end waits for the other one.
      const at = Math.max(0, rest.length - 3);
      kept.push(rest.subarray(0, at));
      rest = rest.subarray(at);
      this.isInside = true;
    }
    this.held = rest;
    return Buffer.concat(kept);
  }

  end(): Uint8Array {
    return this.isInside || !isUsageOnly(this.held) ? this.held : new Uint8Array();
  }
}

function endOfEvent(bytes: Buffer): number {
  let first = -1;
  for (const end of ENDS) {
    const at = bytes.indexOf(end);
    if (at !== -1 && (first === -1 || at + end.length < first)) first = at + end.length;
  }
  return first;
}

function isUsageOnly(event: Buffer): boolean {
  if (!event.includes('"usage"')) return false;
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
