export interface Difference {
  /** `messages[0].content`. */
  readonly path: string;
  readonly kind: 'added' | 'removed' | 'changed';
  /** JSON; null without a value. */
  readonly before: string | null;
  readonly after: string | null;
}

const MAX_SHOWN = 300;

/** Fields that differ from the client's request, in the client's order. Field order doesn't count. */
export function prepareDifferences(sent: unknown, got: unknown): readonly Difference[] {
  return compare('', sent, got).slice(0, MAX_SHOWN);
}

function compare(path: string, before: unknown, after: unknown): readonly Difference[] {
  if (Object.is(before, after)) return [];
  if (before === undefined) return [{ path, kind: 'added', before: null, after: shown(after) }];
  if (after === undefined) return [{ path, kind: 'removed', before: shown(before), after: null }];
  if (isTree(before) && isTree(after) && Array.isArray(before) === Array.isArray(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    const step = (name: string) =>
      Array.isArray(before) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`;
    return names.flatMap((name) => compare(step(name), before[name], after[name]));
  }
  return [{ path, kind: 'changed', before: shown(before), after: shown(after) }];
}

const isTree = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const shown = (value: unknown) => JSON.stringify(value) ?? 'null';
