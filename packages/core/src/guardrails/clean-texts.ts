/** Limit for each of two generations. */
const KEPT = 1000;
/** Characters; longer texts rarely repeat. */
const LONGEST = 64;

interface Text {
  readonly text: string;
  readonly isId: boolean;
}

/** Short texts without findings for one set of rules: names of fields and models repeat in every request. */
export class CleanTexts {
  private recent = new Set<string>();
  private before = new Set<string>();

  has(one: Text): boolean {
    if (one.text.length > LONGEST) return false;
    const key = keyOf(one);
    if (this.recent.has(key)) return true;
    if (!this.before.has(key)) return false;
    this.keep(key);
    return true;
  }

  add(one: Text): void {
    if (one.text.length <= LONGEST) this.keep(keyOf(one));
  }

  private keep(key: string): void {
    if (this.recent.size >= KEPT) {
      this.before = this.recent;
      this.recent = new Set();
    }
    this.recent.add(key);
  }
}

const keyOf = ({ text, isId }: Text): string => `${isId ? 'i' : 't'}${text}`;
