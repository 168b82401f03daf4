// A pseudonym represents one thing of one caller: the hash includes project and customer.
import { createHmac } from 'node:crypto';
import { type Detector, mergeSpans, type Span } from './span';

/** Lifetime of names. */
export type PseudonymScope =
  /** Numbered, within one request. */
  | { readonly kind: 'request' }
  /** The same in every request of one customer. */
  | { readonly kind: 'project'; readonly secret: Uint8Array; readonly customerId: string };

const NAME = /^<[A-Z_]{1,32}_[0-9a-z]{1,16}>$/;
const NAMES = new RegExp(NAME.source.slice(1, -1), 'g');
const HASH_CHARACTERS = 10;

/** Finds everything that looks like a pseudonym, in one pass. */
export function namesIn(text: string): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [name] of text.matchAll(NAMES)) names.add(name);
  return names;
}

/** Pseudonyms for data that a vendor must not see, and the way back. */
export class Pseudonyms {
  private readonly names = new Map<string, string>();
  private readonly originals = new Map<string, string>();
  private readonly counts = new Map<string, number>();

  /** `isTaken`: the request already contains such a name, which stays. */
  constructor(
    private readonly scope: PseudonymScope,
    private readonly isTaken: (name: string) => boolean = () => false,
  ) {}

  get isEmpty(): boolean {
    return this.names.size === 0;
  }

  /** `<EMAIL_1>`: equal for equal originals. */
  nameOf(kind: string, original: string): string {
    const known = this.names.get(`${kind} ${original}`);
    if (known !== undefined) return known;
    let name = this.makeName(kind, original, 0);
    for (let again = 1; this.originals.has(name) || this.isTaken(name); again++)
      name = this.makeName(kind, original, again);
    this.names.set(`${kind} ${original}`, name);
    this.originals.set(name, original);
    return name;
  }

  /** True if it has a pseudonym. */
  knows(kind: string, original: string): boolean {
    return this.names.has(`${kind} ${original}`);
  }

  originalOf(name: string): string | undefined {
    return this.originals.get(name);
  }

  /** Finds the names that were given. */
  detector(): Detector {
    const longest = Math.max(0, ...[...this.originals.keys()].map((name) => name.length));
    return {
      find: (text) => mergeSpans([...this.spansIn(text)]),
      openFrom(text) {
        const from = text.lastIndexOf('<');
        return from >= 0 && text.length - from < longest && !text.includes('>', from) ? from : text.length;
      },
    };
  }

  private *spansIn(text: string): Generator<Span> {
    for (let start = text.indexOf('<'); start >= 0; start = text.indexOf('<', start + 1)) {
      const end = text.indexOf('>', start) + 1;
      if (end === 0) return;
      const name = text.slice(start, end);
      if (NAME.test(name) && this.originals.has(name)) yield { start, end, kind: 'name' };
    }
  }

  private makeName(kind: string, original: string, again: number): string {
    const label = kind.toUpperCase();
    if (this.scope.kind === 'request') {
      const count = (this.counts.get(label) ?? 0) + 1;
      this.counts.set(label, count);
      return `<${label}_${count}>`;
    }
    const { secret, customerId } = this.scope;
    const hash = createHmac('sha256', secret)
      .update(JSON.stringify([customerId, kind, original, again]))
      .digest();
    const number = BigInt(`0x${hash.subarray(0, 8).toString('hex')}`);
    return `<${label}_${number.toString(36).padStart(HASH_CHARACTERS, '0').slice(-HASH_CHARACTERS)}>`;
  }
}
