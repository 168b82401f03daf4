import type { JsonSchema } from './compile-schema';

/** Parts of a schema with all its references followed: so many are walked for each value at the most. */
const MOST_PARTS = 5000;
const MOST_DEPTH = 100;

/** True where judging takes time linear in the text: nothing in the schema leads back to itself, or grows by what it refers to. */
export function isSteadySchema(schema: JsonSchema): boolean {
  let parts = 0;
  const walk = (node: unknown, depth: number): boolean => {
    if (typeof node !== 'object' || node === null) return true;
    parts += 1;
    if (parts > MOST_PARTS || depth > MOST_DEPTH) return false;
    if (Array.isArray(node)) return node.every((one) => walk(one, depth + 1));
    return Object.entries(node).every(([name, value]) => {
      if (name === '$dynamicRef' || name === '$recursiveRef') return false;
      if (name !== '$ref' || typeof value !== 'string') return walk(value, depth + 1);
      const target = resolve(schema, value);
      return target !== undefined && walk(target, depth + 1);
    });
  };
  return walk(schema, 0);
}

/** By a pointer from the root; undefined for every other way to refer. */
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
