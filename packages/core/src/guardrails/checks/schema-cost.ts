import { RE2JS } from 're2js';
import type { JsonSchema } from './compile-schema';

/** Parts of a schema with all references resolved: upper bound of steps per value. */
const MOST_PARTS = 5000;
const MOST_DEPTH = 100;
/** Total size of its expressions: upper bound of steps per character. */
const MOST_STEPS = 60;

/** True if checking takes bounded time per character: no recursion, no growth by references, no large expressions. */
export function isSteadySchema(schema: JsonSchema): boolean {
  let parts = 0;
  let steps = 0;
  const walk = (node: unknown, depth: number): boolean => {
    if (typeof node !== 'object' || node === null) return true;
    parts += 1;
    if (parts > MOST_PARTS || depth > MOST_DEPTH) return false;
    if (Array.isArray(node)) return node.every((one) => walk(one, depth + 1));
    return Object.entries(node).every(([name, value]) => {
      if (name === 'pattern' && typeof value === 'string') steps += sizeOf(value);
      if (name === 'patternProperties' && typeof value === 'object' && value !== null)
        for (const pattern of Object.keys(value)) steps += sizeOf(pattern);
      if (steps > MOST_STEPS) return false;
      if (name === '$dynamicRef' || name === '$recursiveRef') return false;
      if (name !== '$ref' || typeof value !== 'string') return walk(value, depth + 1);
      const target = resolve(schema, value);
      return target !== undefined && walk(target, depth + 1);
    });
  };
  return walk(schema, 0);
}

/** Size of the compiled expression; 0 for an invalid one, which no validator uses. */
function sizeOf(pattern: string): number {
  try {
    return RE2JS.compile(pattern).programSize();
  } catch {
    return 0;
  }
}

/** Resolves a pointer from the root; undefined for other references. */
function resolve(root: JsonSchema, ref: string): unknown {
  if (ref === '#') return root;
  if (!ref.startsWith('#/')) return undefined;
  let node: unknown = root;
  for (const part of ref.slice(2).split('/')) {
    const name = decode(part);
    node =
      typeof node === 'object' && node !== null && Object.hasOwn(node, name)
        ? (node as Readonly<Record<string, unknown>>)[name]
        : undefined;
  }
  return node;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return part;
  }
}
