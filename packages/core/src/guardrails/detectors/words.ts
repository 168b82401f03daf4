import type { Detector, Span } from '../span';

interface Node {
  /** First continuation and its character; most nodes have no other. */
  code: number;
  child: Node | undefined;
  others: Map<number, Node> | undefined;
  /** The longest other word's beginning that this one's end is. */
  back: Node | undefined;
  /** Length of the match so far. */
  readonly depth: number;
  /** Lengths of the words that end here. */
  ends: readonly number[];
}

const LETTER_OR_DIGIT = /[\p{L}\p{N}_]/u;
const isPart = (character: string | undefined): boolean => character !== undefined && LETTER_OR_DIGIT.test(character);

/**
 * Any of many words at once (Aho-Corasick): one step a character, however many there are. Words and text are folded alike.
 * A word that begins or ends with a letter or digit is found only where the text's word does.
 */
export function findWords(words: readonly string[]): Detector {
  const root = buildTree(words);
  const longest = words.reduce((most, { length }) => Math.max(most, length), 0);
  const begins = new Uint8Array(128);
  for (const [code] of nextsOf(root)) if (code < begins.length) begins[code] = 1;
  const step = (from: Node, code: number): Node => {
    let node: Node | undefined = from;
    while (node !== undefined) {
      const next = nextOf(node, code);
      if (next !== undefined) return next;
      node = node.back;
    }
    return root;
  };
  return {
    find(text, isEnd) {
      const spans: Span[] = [];
      let node = root;
      for (let at = 0; at < text.length; at++) {
        node = step(node, text.charCodeAt(at));
        if (node.ends.length === 0) continue;
        const end = at + 1;
        if (end === text.length && !isEnd) continue;
        for (const length of node.ends) {
          const start = end - length;
          const cutsBefore = isPart(text[start]) && isPart(text[start - 1]);
          const cutsBehind = isPart(text[at]) && isPart(text[end]);
          if (!cutsBefore && !cutsBehind) spans.push({ start, end, kind: 'word' });
        }
      }
      return spans;
    },
    mayFind(text, from) {
      const { length } = text;
      let node = root;
      for (let at = from; at < length; at++) {
        const code = text.charCodeAt(at);
        if (node === root && code < begins.length && begins[code] === 0) continue;
        node = step(node, code);
        if (node.ends.length > 0) return true;
      }
      return false;
    },
    openFrom(text) {
      let node = root;
      for (let at = Math.max(0, text.length - longest); at < text.length; at++) node = step(node, text.charCodeAt(at));
      return text.length - node.depth;
    },
  };
}

const nextOf = (node: Node, code: number): Node | undefined =>
  node.code === code ? node.child : node.others?.get(code);

const createNode = (depth: number, back: Node | undefined): Node => ({
  ...{ code: -1, child: undefined, others: undefined, back, depth },
  ends: NONE,
});
const NONE: readonly number[] = [];

function addNext(node: Node, code: number, next: Node): void {
  if (node.child === undefined) {
    node.code = code;
    node.child = next;
  } else {
    node.others ??= new Map();
    node.others.set(code, next);
  }
}

function* nextsOf(node: Node): Generator<readonly [number, Node]> {
  if (node.child !== undefined) yield [node.code, node.child];
  if (node.others !== undefined) yield* node.others;
}

function buildTree(words: readonly string[]): Node {
  const root = createNode(0, undefined);
  for (const word of words) {
    let node = root;
    for (let at = 0; at < word.length; at++) {
      const code = word.charCodeAt(at);
      let next = nextOf(node, code);
      if (next === undefined) {
        next = createNode(at + 1, root);
        addNext(node, code, next);
      }
      node = next;
    }
    if (word.length > 0 && !node.ends.includes(word.length)) node.ends = [...node.ends, word.length];
  }
  // Level by level: each fallback is known before those of its successors.
  const queue = Array.from(nextsOf(root), ([, node]) => node);
  for (let index = 0; index < queue.length; index++) {
    const node = queue[index] as Node;
    for (const [code, child] of nextsOf(node)) {
      child.back = backOf(node, code, root);
      queue.push(child);
    }
    const ends = node.back?.ends ?? NONE;
    if (ends.length > 0) node.ends = [...node.ends, ...ends];
  }
  return root;
}

function backOf(parent: Node, code: number, root: Node): Node {
  for (let node = parent.back; node !== undefined; node = node.back) {
    const next = nextOf(node, code);
    if (next !== undefined) return next;
  }
  return root;
}
