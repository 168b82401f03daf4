import { type AST, RegExpParser } from '@eslint-community/regexpp';

const parser = new RegExpParser({ ecmaVersion: 2025 });

/**
 * The most characters that a match, and what it looks at behind itself, can have; undefined where there is no bound, where the
 * text's own beginning or end counts, or where it cannot be told.
 */
export function lengthOfPattern(pattern: string): number | undefined {
  try {
    const length = lengthOf(parse(pattern));
    return length === Number.POSITIVE_INFINITY ? undefined : length + 1;
  } catch {
    return undefined;
  }
}

/** True where every match is empty: a place, and no text. False where that cannot be told. */
export function matchesNoText(pattern: string): boolean {
  try {
    return !takesText(parse(pattern));
  } catch {
    return false;
  }
}

function parse(pattern: string): AST.Pattern {
  // RE2's ways to say what JavaScript says after the last slash: none of them changes a length.
  const plain = pattern.replace(/^\(\?[ims]{1,3}\)/, '').replaceAll('(?P<', '(?<');
  return parser.parsePattern(plain, undefined, undefined, { unicode: false });
}

type Node = AST.Pattern | AST.Alternative | AST.Element | AST.QuantifiableElement;

function lengthOf(node: Node): number {
  switch (node.type) {
    case 'Pattern':
    case 'Group':
    case 'CapturingGroup':
      return Math.max(0, ...node.alternatives.map(lengthOf));
    case 'Alternative':
      return node.elements.reduce((sum, element) => sum + lengthOf(element), 0);
    case 'Quantifier': {
      const once = lengthOf(node.element);
      return once === 0 ? 0 : once * node.max;
    }
    case 'Assertion':
      return node.kind === 'word' ? 0 : Number.POSITIVE_INFINITY;
    case 'Character':
    case 'CharacterSet':
    case 'CharacterClass':
      // A character beyond the first 65,536 counts as two.
      return 2;
    default:
      return Number.POSITIVE_INFINITY;
  }
}

function takesText(node: Node): boolean {
  switch (node.type) {
    case 'Pattern':
    case 'Group':
    case 'CapturingGroup':
      return node.alternatives.some(takesText);
    case 'Alternative':
      return node.elements.some(takesText);
    case 'Quantifier':
      return node.max > 0 && takesText(node.element);
    default:
      return node.type !== 'Assertion';
  }
}
