/** Each at 3:1 or more on the panels of both themes, and easy to tell from the others. */
export const PALETTE: readonly string[] = [
  ...['#4c6ef5', '#12a594', '#ae3ec9', '#c2790b', '#e64980', '#bf308f', '#006c90', '#7950f2'],
  ...['#845b6e', '#4a6d51', '#9e80d1', '#6e9182', '#a14d2f', '#7f6612', '#a56998', '#c41f5f'],
  ...['#bd7e87', '#758057', '#7e539c', '#aa4673', '#b671f9', '#ce70c7', '#fa5d36', '#7b79ae'],
  ...['#a56762', '#be8769', '#91976d', '#6e90dc', '#037ac0', '#8864c0', '#5b5cb7', '#8b7b02'],
  ...['#3d846d', '#e2726b', '#8a7dfa', '#b84c51', '#846047', '#cd6151', '#be5bac', '#b57baf'],
  ...['#c4530f', '#9c672e', '#b06ace', '#5b7a38', '#a1529b', '#a37d64', '#7e8f46', '#5480c7'],
  ...['#ba5f76', '#d771a4', '#dd56b8', '#866695', '#5c7e9c', '#17843f', '#7f78d6', '#c03710'],
  ...['#9867e1', '#9782a8'],
];

/** Everything that is not a name of its own. */
export const OTHER_COLOR = '#8b929c';

/** Colours with a meaning: no name gets one of them, or one that is near. */
export const MEANING = {
  success: '#2f9e44',
  error: '#e03131',
  rate_limited: '#e15f0a',
  cap_exceeded: '#989912',
  aborted: OTHER_COLOR,
  p50: '#008bba',
  p95: '#e15f0a',
  p99: '#e03131',
  exact: '#1795fa',
  semantic: '#3c740d',
  miss: OTHER_COLOR,
  caller_error: '#905080',
  caller: '#905080',
  policy: '#e15f0a',
  provider: '#e03131',
  gateway: '#989912',
} as const;

/** Names with a place for good, so that what is often shown together differs. New ones go last. */
const PLACES = [
  [
    ...['openai', 'anthropic', 'gemini', 'demo', 'azure', 'bedrock', 'vertex', 'mistral', 'groq'],
    ...['together', 'deepseek', 'xai', 'openrouter', 'fireworks', 'cohere', 'voyage', 'ollama'],
  ],
  [
    ...['gpt-4o', 'gpt-4o-mini', 'claude-sonnet-4-5', 'claude-haiku-4-5', 'gemini-2.5-flash', 'gemini-2.5-pro'],
    ...['claude-sonnet-4-6', 'claude-haiku-4-5-20251001', 'claude-opus-4-5', 'gpt-5.4', 'gpt-5.4-mini', 'gpt-5.4-nano'],
    ...['gpt-5', 'gpt-5-mini', 'gpt-4.1', 'gpt-4.1-mini', 'o3', 'o4-mini', 'gemini-2.5-flash-lite', 'demo-chat'],
    ...['mistral-large-latest', 'deepseek-chat', 'llama-3.3-70b-versatile', 'text-embedding-3-small'],
  ],
] as const;
const [PROVIDERS, MODELS] = PLACES;
/** Colors of the first models: no other name has one that is near. */
export const KEPT = 8;
/** Providers have colors of their own: the one of a provider is never that of a model beside it. */
const FREE = KEPT + PROVIDERS.length;
const PLACE_OF: ReadonlyMap<string, number> = new Map([
  ...MODELS.map((name, place) => [name, place < KEPT ? place : place - KEPT + FREE] as const),
  ...PROVIDERS.map((name, place) => [name, KEPT + place] as const),
]);

/** FNV-1a: the same in every browser. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return (value ^ (value >>> 15)) >>> 0;
}

/** Color of a name: the same on all pages, in every browser, whatever it is shown with. */
export function colorOf(name: string): string {
  if (name === '' || name === '(other)') return OTHER_COLOR;
  return PALETTE[PLACE_OF.get(name) ?? FREE + (hash(name) % (PALETTE.length - FREE))] ?? OTHER_COLOR;
}

/** Names that are drawn together at most. */
const TOGETHER = 12;
/** Names whose color is kept. */
const MOST_KEPT = 1000;
const kept = new Map<string, string>();

/**
 * Color of a customer, key, project or label: there are more of them than colors. It stays while the page is open, and is
 * apart from those of the names `beside` it, or else of the latest names.
 */
export function apartColorOf(name: string, beside?: readonly string[]): string {
  if (name === '' || name === '(other)') return OTHER_COLOR;
  const known = kept.get(name);
  if (known !== undefined) return known;
  const others = beside?.flatMap((one) => kept.get(one) ?? []) ?? [...kept.values()].slice(-TOGETHER);
  const color = farthest(others);
  kept.set(name, color);
  const [oldest] = kept.keys();
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
  return color;
}

/** The color that is easiest to tell from all of these: one that no name has, if there is any. */
function farthest(others: readonly string[]): string {
  const taken = new Set(kept.values());
  const places = others.map(oklab);
  const free = PALETTE.slice(FREE).map((color) => {
    const place = oklab(color);
    return { color, apart: Math.min(1, ...places.map((other) => distance(place, other))) - (taken.has(color) ? 1 : 0) };
  });
  return free.toSorted((a, b) => b.apart - a.apart)[0]?.color ?? OTHER_COLOR;
}

type Place = readonly [number, number, number];
export const distance = (a: Place, b: Place) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);

/** A perceptual color space. Source: https://bottosson.github.io/posts/oklab */
export function oklab(hex: string): Place {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}
