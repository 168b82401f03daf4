import { type AST, RegExpParser, visitRegExpAST } from '@eslint-community/regexpp';
import { analyse } from 'scslre';

const parser = new RegExpParser();

/** Ways in which an expression takes more than linear time; empty when it provably takes none. */
export function slowWays(source: string, flags: string): readonly string[] {
  const unicode = { unicode: flags.includes('u'), unicodeSets: flags.includes('v') };
  const pattern = parser.parsePattern(source, 0, source.length, unicode);
  const { reports } = analyse({ pattern, flags: parser.parseFlags(flags) });
  return reports.map(({ type, exponential }) => `${type}${exponential ? ', exponential' : ''}`);
}

/** Does anything in it repeat without a bound? */
export function isUnbounded(source: string, flags: string): boolean {
  return quantifiersOf(source, flags).some(({ max }) => max === Number.POSITIVE_INFINITY);
}

function quantifiersOf(source: string, flags: string): readonly AST.Quantifier[] {
  const found: AST.Quantifier[] = [];
  visitRegExpAST(parse(source, flags), { onQuantifierEnter: (node) => void found.push(node) });
  return found;
}

const parse = (source: string, flags: string) =>
  parser.parsePattern(source, 0, source.length, {
    unicode: flags.includes('u'),
    unicodeSets: flags.includes('v'),
  });

/**
 * Pieces whose repetition is hard on an expression: what each of its repeated parts takes, each of its alternatives' own
 * words, and all of them one behind the other.
 */
export function hardPieces(source: string, flags: string): readonly string[] {
  const pieces = new Set<string>();
  const tree = parse(source, flags);
  const words = tree.alternatives.map(({ elements }) => elements.map(sample).join(''));
  visitRegExpAST(tree, {
    onQuantifierEnter: ({ element, max }) => void (max > 1 && pieces.add(sample(element))),
    onAlternativeEnter: ({ elements }) => {
      pieces.add(`${elements.map(sample).join('')} `);
      for (let i = 1; i <= elements.length; i++) pieces.add(elements.slice(0, i).map(sample).join(''));
    },
  });
  for (const word of [...words, words.join('')]) pieces.add(word);
  return [...pieces].filter((piece) => piece !== '');
}

/** A text that a part takes. */
function sample(node: AST.Element): string {
  if (node.type === 'Character') return String.fromCodePoint(node.value);
  if (node.type === 'CharacterSet') return sampleSet(node);
  if (node.type === 'CharacterClass') return sampleClass(node);
  if (node.type === 'Group' || node.type === 'CapturingGroup') {
    return node.alternatives[0]?.elements.map(sample).join('') ?? '';
  }
  if (node.type === 'Quantifier') return sample(node.element).repeat(Math.max(1, Math.min(node.min, 8)));
  return '';
}

const SETS: Readonly<Record<string, readonly [yes: string, no: string]>> = {
  digit: ['1', 'a'],
  space: [' ', 'a'],
  word: ['a', ' '],
  property: ['a', ' '],
  any: ['a', 'a'],
};
const sampleSet = (node: AST.CharacterSet): string =>
  (SETS[node.kind] ?? ['a', ' '])['negate' in node && node.negate ? 1 : 0];

const CANDIDATES = [...'a A1 _-./:;,<>"\'`*#@=%\n\t~é'];

function sampleClass(node: AST.CharacterClass): string {
  const matches = new RegExp(`^${node.raw}$`, /\\[pu]\{|[\ud800-\udfff]/.test(node.raw) ? 'u' : '');
  return CANDIDATES.find((one) => matches.test(one)) ?? 'a';
}
