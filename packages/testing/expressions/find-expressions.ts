import { join } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import { isScript, isTest } from '../architecture/source-file';

export interface FoundExpression {
  /** From the repository's root. */
  readonly path: string;
  readonly source: string;
  readonly flags: string;
}

/** One that is built when the program runs, and cannot be read off its source. */
export interface BuiltExpression {
  readonly path: string;
  readonly code: string;
}

export interface FoundExpressions {
  readonly written: readonly FoundExpression[];
  readonly built: readonly BuiltExpression[];
}

const ROOT = join(import.meta.dir, '../../..');
const ROOMS = ['apps/gateway', 'apps/dashboard/src', 'packages/core/src', 'packages/providers/src', 'drizzle'];
const SCRIPTS = new Bun.Glob('**/*.{ts,tsx}');

/** Every regular expression of the product. */
export async function findExpressions(): Promise<FoundExpressions> {
  const written: FoundExpression[] = [];
  const built: BuiltExpression[] = [];
  const paths = ROOMS.flatMap((room) =>
    [...SCRIPTS.scanSync({ cwd: join(ROOT, room) })].map((path) => join(room, path)),
  );
  for (const path of paths.sort()) {
    if (isTest(path) || !isScript(path) || path.includes('node_modules')) continue;
    const found = expressionsOf(path, await Bun.file(join(ROOT, path)).text());
    written.push(...found.written);
    built.push(...found.built);
  }
  return { written, built };
}

type Node = Readonly<Record<string, unknown>> & { readonly type: string; readonly start: number; readonly end: number };

/** Those of one file: literals, and calls whose text stands in the same file. */
export function expressionsOf(path: string, text: string): FoundExpressions {
  const { program } = parseSync(path, text);
  const written: FoundExpression[] = [];
  const built: BuiltExpression[] = [];
  const constants = new Map<string, Node>();
  const calls: Node[] = [];
  const callee = (node: Node) => (node.callee as Node | undefined)?.name === 'RegExp' && calls.push(node);
  new Visitor({
    VariableDeclarator: (node) => {
      const { id, init } = node as unknown as { id: Node; init: Node | null };
      if (typeof id.name === 'string' && init !== null) constants.set(id.name, init);
    },
    Literal: (node) => {
      const { regex } = node as { regex?: { pattern: string; flags: string } };
      if (regex !== undefined) written.push({ path, source: regex.pattern, flags: regex.flags });
    },
    NewExpression: (node) => void callee(node as unknown as Node),
    CallExpression: (node) => void callee(node as unknown as Node),
  }).visit(program);
  for (const call of calls) {
    const [pattern, flags] = (call.arguments as readonly Node[]).map((node) => textOf(node, constants));
    if (typeof pattern === 'string') written.push({ path, source: pattern, flags: flags ?? '' });
    else built.push({ path, code: text.slice(call.start, call.end).replace(/\s+/g, ' ') });
  }
  return { written, built };
}

interface Quasi {
  readonly value: { readonly cooked: string; readonly raw: string };
}

/** What a constant text is; undefined where it is none. */
function textOf(node: Node | undefined, constants: ReadonlyMap<string, Node>): string | undefined {
  if (node === undefined) return undefined;
  if (node.type === 'Literal') return node.regex === undefined ? String(node.value) : undefined;
  if (node.type === 'Identifier') return textOf(constants.get(String(node.name)), constants);
  if (node.type === 'TSAsExpression') return textOf(node.expression as Node, constants);
  if (node.type === 'BinaryExpression') {
    const [left, right] = [textOf(node.left as Node, constants), textOf(node.right as Node, constants)];
    if (left === undefined || right === undefined) return undefined;
    return node.operator === '*' ? String(Number(left) * Number(right)) : left + right;
  }
  if (node.type === 'TaggedTemplateExpression') return joined(node.quasi as Node, constants, 'raw');
  return node.type === 'TemplateLiteral' ? joined(node, constants, 'cooked') : undefined;
}

function joined(node: Node, constants: ReadonlyMap<string, Node>, kind: 'cooked' | 'raw'): string | undefined {
  const texts = (node.expressions as readonly Node[]).map((one) => textOf(one, constants));
  if (texts.some((text) => text === undefined)) return undefined;
  return (node.quasis as unknown as readonly Quasi[]).map(({ value }, i) => value[kind] + (texts[i] ?? '')).join('');
}
