/** Told apart by colour-blind eyes too, light and dark (after Okabe & Ito, and Tol's muted set). */
const PALETTE = [
  '#4c6ef5',
  '#12a594',
  '#f08c00',
  '#ae3ec9',
  '#2f9e44',
  '#e64980',
  '#1098ad',
  '#c2790b',
  '#7950f2',
  '#5c940d',
  '#d6336c',
  '#5b7083',
] as const;

/** Everything that is not a name of its own. */
export const OTHER_COLOR = '#8b929c';
const STORAGE_KEY = 'llm0-colors';
const MAX_REMEMBERED = 500;

/** Colours with a meaning. */
export const MEANING = {
  success: '#2f9e44',
  error: '#e03131',
  rate_limited: '#f08c00',
  cap_exceeded: '#ae3ec9',
  aborted: '#8b929c',
  p50: '#4c6ef5',
  p95: '#f08c00',
  p99: '#e03131',
  exact: '#12a594',
  semantic: '#7950f2',
  miss: '#a3abb6',
  caller: '#8b929c',
  policy: '#f08c00',
  provider: '#e03131',
  gateway: '#ae3ec9',
} as const;

/** Gives each name a colour of its own as long as there are any, and the same one wherever and whenever it is shown. */
export class ColorBook {
  private readonly colors: Map<string, number>;

  constructor(private readonly storage: Pick<Storage, 'getItem' | 'setItem'> | undefined) {
    this.colors = new Map(readStored(storage));
  }

  colorOf(name: string): string {
    if (name === '' || name === '(other)') return OTHER_COLOR;
    let index = this.colors.get(name);
    if (index === undefined) {
      index = this.leastUsed();
      this.colors.set(name, index);
      this.keep();
    }
    return PALETTE[index % PALETTE.length] ?? OTHER_COLOR;
  }

  private leastUsed(): number {
    const uses = PALETTE.map(() => 0);
    for (const index of this.colors.values()) uses[index] = (uses[index] ?? 0) + 1;
    return uses.indexOf(Math.min(...uses));
  }

  private keep(): void {
    try {
      this.storage?.setItem(STORAGE_KEY, JSON.stringify([...this.colors].slice(-MAX_REMEMBERED)));
    } catch {
      // A full or forbidden storage only means other colours after a reload.
    }
  }
}

function readStored(storage: Pick<Storage, 'getItem'> | undefined): [string, number][] {
  try {
    const stored: unknown = JSON.parse(storage?.getItem(STORAGE_KEY) ?? '[]');
    if (!Array.isArray(stored)) return [];
    return stored.filter(
      (entry): entry is [string, number] =>
        Array.isArray(entry) && typeof entry[0] === 'string' && Number.isInteger(entry[1]) && entry[1] < PALETTE.length,
    );
  } catch {
    return [];
  }
}

const storage = typeof localStorage === 'undefined' ? undefined : localStorage;

/** The colours of this browser. */
export const colorBook = new ColorBook(storage);
