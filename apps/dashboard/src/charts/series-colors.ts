/** Each at 3:1 or more on the panels of both themes, and easy to tell from the others. */
export const PALETTE: readonly string[] = [
  ...['#4c6ef5', '#12a594', '#ae3ec9', '#c2790b', '#e64980', '#2f9e44', '#1098ad', '#7950f2'],
  ...['#4a6d51', '#8f517b', '#a87eeb', '#3f6aa1', '#9a5505', '#bc267f', '#df5fc8', '#c87979'],
  ...['#7e864d', '#3496ef', '#227702', '#ae6aa8', '#7974c5', '#9a6e62', '#a09600', '#f16935'],
  ...['#7055b0', '#098777', '#bc516f', '#2062ce', '#776a15', '#7584fe', '#a68f68', '#7a6d93'],
  ...['#1380c7', '#628202', '#d771a4', '#b1483a', '#9b61ea', '#176f7c', '#9b47a1', '#9d86ba'],
  ...['#c841a5', '#cb6440', '#548197', '#fb5663', '#9f7100', '#8b44c9', '#bb61cf', '#c61e54'],
  ...['#6898c0', '#6f977c', '#915556', '#a1788e', '#749a48', '#2f8247', '#5f5bd3', '#7d8bdb'],
  ...['#9460b7', '#c378c7', '#298c01', '#5e7e5f', '#0c84fa', '#796ae5', '#519160', '#816243'],
];

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
  caller_error: '#5b7083',
  caller: '#5b7083',
  policy: '#f08c00',
  provider: '#e03131',
  gateway: '#ae3ec9',
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
const PLACE_OF: ReadonlyMap<string, number> = new Map(
  PLACES.flatMap((names) => names.map((name, place) => [name, place] as const)),
);

/** Colors that the first names of each list share with no other. */
const KEPT = 12;

/** FNV-1a: the same in every browser. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return (value ^ (value >>> 15)) >>> 0;
}

/** Color of a name: the same on all pages, in every browser, whatever it is shown with. */
export function colorOf(name: string): string {
  if (name === '' || name === '(other)') return OTHER_COLOR;
  return PALETTE[PLACE_OF.get(name) ?? KEPT + (hash(name) % (PALETTE.length - KEPT))] ?? OTHER_COLOR;
}
