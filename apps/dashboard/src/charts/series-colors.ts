/** Distinct for colour-blind readers, light and dark (after Okabe & Ito, and Tol's muted set). */
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

/** For names whose own colour another name has. */
const SPARE = [
  ...['#364fc7', '#087f5b', '#d9480f', '#862e9c', '#66a80f', '#a61e4d'],
  ...['#0b7285', '#e0a100', '#9775fa', '#2b8a3e', '#ff8787', '#868e96'],
] as const;

/** Everything that is not a name of its own. */
export const OTHER_COLOR = '#8b929c';

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
  caller: '#5b7083',
  policy: '#f08c00',
  provider: '#e03131',
  gateway: '#ae3ec9',
} as const;

/** Number of names that choose first. */
const FIRST = 10;
/** In an order for good: a provider has one colour in every browser, and takes none from models. New ones go last. */
const PROVIDERS = [
  ...['openai', 'anthropic', 'gemini', 'demo', 'azure', 'bedrock', 'vertex', 'mistral', 'groq'],
  ...['together', 'deepseek', 'xai', 'openrouter', 'fireworks', 'cohere', 'voyage', 'ollama'],
];

/** Further names have the colour of their hash. */
const MAX_REMEMBERED = 500;

/** FNV-1a: stable in every browser. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return (value ^ (value >>> 15)) >>> 0;
}

const OF_PROVIDER = new Map(PROVIDERS.map((name, index) => [name, [...PALETTE, ...SPARE][index]]));

const isNoName = (name: string) => name === '' || name === '(other)';

interface Memory {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

const KEY = 'llm0-colors';

/**
 * Colours that a name keeps on all pages: that of its hash, or a free one if another name took it before. The memory keeps
 * them across reloads.
 */
export class SeriesColors {
  private readonly taken: Map<string, string>;

  constructor(private readonly memory: Memory | undefined) {
    this.taken = new Map(this.restore());
  }

  /** Colour of a name, in any chart and table. */
  readonly colorOf = (name: string): string => {
    if (isNoName(name)) return OTHER_COLOR;
    return this.known(name) ?? this.take(name, []);
  };

  /** Colours of names shown together, the most important first. The order doesn't decide. */
  readonly colorsOf = (names: readonly string[]): ((name: string) => string) => {
    const shown = names.filter((one) => !isNoName(one));
    const inTurn = [...shown.slice(0, FIRST).sort(), ...shown.slice(FIRST).sort()];
    for (const name of inTurn) if (this.known(name) === undefined) this.take(name, shown);
    return (name) => this.known(name) ?? (isNoName(name) ? OTHER_COLOR : hashed(name));
  };

  private known(name: string): string | undefined {
    return OF_PROVIDER.get(name) ?? this.taken.get(name);
  }

  private take(name: string, beside: readonly string[]): string {
    const at = hash(name) % PALETTE.length;
    const wanted = [...PALETTE.slice(at), ...PALETTE.slice(0, at), ...SPARE];
    const near = new Set(beside.map((one) => this.known(one)));
    const used = new Set([...this.taken.values(), ...near]);
    const color = wanted.find((one) => !used.has(one)) ?? wanted.find((one) => !near.has(one)) ?? hashed(name);
    if (this.taken.size < MAX_REMEMBERED) {
      this.taken.set(name, color);
      this.store();
    }
    return color;
  }

  private restore(): [string, string][] {
    try {
      const kept: unknown = JSON.parse(this.memory?.getItem(KEY) ?? '{}');
      const known = new Set<unknown>([...PALETTE, ...SPARE]);
      return Object.entries(kept ?? {}).filter(([, color]) => known.has(color)) as [string, string][];
    } catch {
      return [];
    }
  }

  private store(): void {
    try {
      this.memory?.setItem(KEY, JSON.stringify(Object.fromEntries(this.taken)));
    } catch {
      // Without a storage, names keep their colours until the page is left.
    }
  }
}

const hashed = (name: string): string => PALETTE[hash(name) % PALETTE.length] ?? OTHER_COLOR;

/** Browsers that block storage throw on access. */
function storage(): Memory | undefined {
  try {
    return globalThis.localStorage;
  } catch {
    return undefined;
  }
}

export const { colorOf, colorsOf } = new SeriesColors(storage());
