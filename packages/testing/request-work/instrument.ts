import { parseSync } from 'oxc-parser';

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

interface Insertion {
  readonly at: number;
  readonly text: string;
  /** Ends come before starts; of ends the inner first, of starts the outer. */
  readonly order: number;
}

const EXPRESSIONS_OF_TYPES = /^TS(As|Satisfies|NonNull|Instantiation)Expression$/;
/** What allocates each time it runs. */
const ALLOCATES = /^(ObjectExpression|NewExpression|ArrayExpression|ArrowFunctionExpression|FunctionExpression)$/;

/**
 * TypeScript that counts calls of functions, and what they allocate, in `globalThis.requestWork`. `idOf` gives a number for
 * the function of a name.
 */
export function instrument(path: string, text: string, idOf: (name: string) => number): string {
  const insertions: Insertion[] = [];
  const around = (node: Node, before: string) => {
    const order = insertions.length;
    insertions.push({ at: node.start, text: before, order }, { at: node.end, text: ')', order: -1 - order });
  };
  const visit = (node: Node, parent: Node, within: number) => {
    if (/^TS/.test(node.type) && !EXPRESSIONS_OF_TYPES.test(node.type) && node.type !== 'TSParameterProperty') return;
    if (ALLOCATES.test(node.type) && !isMethod(node, parent)) around(node, `(requestWork.made(${within}), `);
    const id = /Function/.test(node.type) ? idOf(nameOf(node, parent)) : within;
    if (id !== within) countCalls(node, id);
    for (const child of childrenOf(node)) visit(child, node, id);
  };
  const countCalls = ({ body }: Node, id: number) => {
    const block = body as Node | null;
    if (block === null) return;
    const call = `requestWork.called(${id})`;
    if (block.type === 'BlockStatement') insertions.push({ at: block.start + 1, text: `${call};`, order: 0 });
    else around(block, `(${call}, `);
  };
  const program = parseSync(path, text).program as unknown as Node;
  visit(program, program, idOf('(module)'));
  return splice(text, insertions);
}

/** A method's function stands behind its name, not in an expression. */
const isMethod = (node: Node, parent: Node): boolean =>
  parent.value === node &&
  (parent.type === 'MethodDefinition' || parent.method === true || /^[gs]et$/.test(String(parent.kind)));

function nameOf(node: Node, parent: Node): string {
  const named = [node.id, parent.key, parent.id].find((one) => typeof (one as Node | null)?.name === 'string');
  return String((named as Node | undefined)?.name ?? '');
}

function childrenOf(node: Node): readonly Node[] {
  const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;
  return Object.values(node).flatMap((value) =>
    Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [],
  );
}

function splice(text: string, insertions: readonly Insertion[]): string {
  const sorted = insertions.toSorted((a, b) => a.at - b.at || a.order - b.order);
  let from = 0;
  let result = '';
  for (const { at, text: added } of sorted) {
    result += text.slice(from, at) + added;
    from = at;
  }
  return result + text.slice(from);
}
