// Writes large JSON in slices of a few milliseconds; see `json-in-slices`.
import { freeBytes, letGo, nextTurn, TimeSlices } from '../async/time-slices';
import { LARGE_JSON_LENGTH } from './json-in-slices';

/** Characters that are written by one native call. */
const WINDOW = 32 * 1024;

/** True where the JSON of a value is longer than `length` characters, roughly. */
export function isLongJson(value: unknown, length = LARGE_JSON_LENGTH): boolean {
  return weigh(value, length) < 0;
}

/** `JSON.stringify` in slices: UTF-8. Takes JSON values only. */
export async function stringifyJsonInSlices(value: unknown): Promise<Blob> {
  return joinInSlices(await piecesOfJson(value));
}

/** Pieces of about 32 kB. */
export async function piecesOfJson(value: unknown): Promise<Buffer[]> {
  await nextTurn();
  const pieces: Buffer[] = [];
  await writeJsonInSlices(value, (piece) => pieces.push(piece));
  return pieces;
}

/** Joins all pieces with one copy; sending a blob copies nothing more. Frees the pieces. */
export async function joinInSlices(pieces: Uint8Array[]): Promise<Blob> {
  await nextTurn();
  const parts = pieces.splice(0);
  const whole = new Blob(parts as BlobPart[]);
  for (const part of parts) freeBytes(part);
  await letGo();
  return whole;
}

/** Writes piece by piece, for readers that don't need the whole. */
export async function writeJsonInSlices(value: unknown, take: (piece: Buffer) => void): Promise<void> {
  const writer = new TurnWriter((text) => take(Buffer.from(text)));
  await writer.write(value);
  writer.finish();
}

/** SHA-256 (hex) of a value's JSON, in slices; long strings count by length and content. */
export async function digestJsonInSlices(value: unknown): Promise<string> {
  const hasher = new Bun.CryptoHasher('sha256');
  const writer = new DigestWriter((text) => hasher.update(text));
  await writer.write(value);
  writer.finish();
  return hasher.digest('hex');
}

class TurnWriter {
  protected text = '';
  private readonly slices = new TimeSlices();

  constructor(protected readonly take: (piece: string) => void) {}

  async write(value: unknown): Promise<void> {
    if (weigh(value, WINDOW) >= 0) this.text += JSON.stringify(value) ?? 'null';
    else if (typeof value === 'string') await this.writeString(value);
    else if (Array.isArray(value)) await this.writeList(value);
    else await this.writeObject(value as Record<string, unknown>);
    if (this.text.length > WINDOW) await this.flush();
  }

  finish(): void {
    if (this.text !== '') this.take(this.text);
  }

  private async writeList(list: readonly unknown[]): Promise<void> {
    let before = '[';
    for (const item of list) {
      this.text += before;
      before = ',';
      if (weigh(item, WINDOW) < 0) await this.write(item);
      else {
        this.text += JSON.stringify(item) ?? 'null';
        if (this.text.length > WINDOW) await this.flush();
      }
    }
    this.text += ']';
  }

  private async writeObject(object: Readonly<Record<string, unknown>>): Promise<void> {
    let before = '{';
    for (const name of Object.keys(object)) {
      const value = object[name];
      if (value === undefined) continue;
      this.text += `${before}${JSON.stringify(name)}:`;
      before = ',';
      await this.write(value);
    }
    this.text += before === '{' ? '{}' : '}';
  }

  private async writeString(value: string): Promise<void> {
    this.text += '"';
    for (let at = 0; at < value.length; ) {
      let cut = Math.min(value.length, at + WINDOW);
      if (cut < value.length && isHighSurrogate(value.charCodeAt(cut - 1))) cut -= 1;
      // Read first, because the consumer may take the earlier text meanwhile.
      const shown = this.inString(value.slice(at, cut));
      this.text += shown;
      at = cut;
      await this.flush();
    }
    this.text += '"';
  }

  protected inString(part: string): string {
    return JSON.stringify(part).slice(1, -1);
  }

  private async flush(): Promise<void> {
    const { length } = this.text;
    this.take(this.text);
    this.text = '';
    await this.slices.pauseAfter(length);
  }
}

/** Long strings aren't copied: each part counts with its kind and length. */
class DigestWriter extends TurnWriter {
  protected override inString(part: string): string {
    // Halves of characters would all be hashed as the same one.
    const isWhole = part.isWellFormed();
    const shown = isWhole ? part : JSON.stringify(part);
    this.text += `${isWhole ? 'w' : 'h'}${shown.length}:`;
    this.take(this.text);
    this.text = '';
    return shown;
  }
}

const isHighSurrogate = (code: number) => code >= 0xd800 && code < 0xdc00;

/** Rest of `budget` characters after the value, roughly; negative if too long. */
function weigh(value: unknown, budget: number): number {
  if (typeof value === 'string') return budget - value.length - 2;
  if (typeof value !== 'object' || value === null) return budget - 8;
  let left = budget - 2;
  if (Array.isArray(value)) {
    for (const item of value) {
      left = weigh(item, left);
      if (left < 0) return left;
    }
    return left;
  }
  for (const name in value) {
    left = weigh((value as Record<string, unknown>)[name], left - name.length - 3);
    if (left < 0) return left;
  }
  return left;
}
