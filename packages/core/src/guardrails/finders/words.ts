import type { Finder, Span } from '../span';

interface Node {
  readonly next: Map<number, Node>;
  /** The longest other word's beginning that this one's end is. */
  back: Node | undefined;
  /** Length of what was read. */
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
export function findWords(words: readonly string[]): Finder {
  const root = buildTree(words);
  const step = (from: Node, code: number): Node => {
    let node: Node | undefined = from;
    while (node !== undefined) {
      const next = node.next.get(code);
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
    openFrom(text) {
      let node = root;
      for (let at = 0; at < text.length; at++) node = step(node, text.charCodeAt(at));
      return text.length - node.depth;
    },
  };
}

function buildTree(words: readonly string[]): Node {
  const root: Node = { next: new Map(), back: undefined, depth: 0, ends: [] };
  for (const word of words) {
    let node = root;
    for (let at = 0; at < word.length; at++) {
      const code = word.charCodeAt(at);
      const next: Node = node.next.get(code) ?? { next: new Map(), back: root, depth: at + 1, ends: [] };
      node.next.set(code, next);
      node = next;
    }
    if (word.length > 0 && !node.ends.includes(word.length)) node.ends = [...node.ends, word.length];
  }
  // Level by level: the way back of each is known before those behind it.
  for (
    let level = [...root.next.values()];
    level.length > 0;
    level = level.flatMap((node) => [...node.next.values()])
  ) {
    for (const node of level) {
      for (const [code, child] of node.next) child.back = backOf(node, code, root);
      const ends = node.back?.ends ?? [];
      node.ends = [...node.ends, ...ends];
    }
  }
  return root;
}

function backOf(parent: Node, code: number, root: Node): Node {
  for (let node = parent.back; node !== undefined; node = node.back) {
    const next = node.next.get(code);
    if (next !== undefined) return next;
  }
  return root;
}
