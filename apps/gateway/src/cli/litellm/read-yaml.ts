import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { isAlias, isMap, isNode, isScalar, LineCounter, type Node, parseDocument, visit, type YAMLMap } from 'yaml';
import { RequestFailed } from '../admin-client';
import { isObject } from '../read-list';

const MAX_CHARACTERS = 1024 * 1024;
const MAX_DEPTH = 50;
/** Maximum of brackets: parsing time is quadratic in them. */
const MAX_BRACKETS = 500;
const MAX_VALUES = 200_000;
/** Maximum of aliases per anchor, as the parser counts them. */
const MAX_ALIASES = 1000;
/** Aliases × nodes: bound for the copies of merged anchors. */
const MAX_COPIES = 10_000_000;

/**
 * Parses YAML 1.1 to plain JSON, as LiteLLM does (`yes`, `True`, `<<`). Throws `RequestFailed` for a non-mapping or an
 * oversized file. Errors never quote the text, which may contain secrets.
 */
export function readYaml(text: string): JsonObject {
  if (text.length > MAX_CHARACTERS) throw new RequestFailed(`The file is larger than ${MAX_CHARACTERS} characters.`);
  if (bracketDepth(text) > MAX_BRACKETS) throw tooDeep();
  const value = toJson(parse(text), { depth: 0, left: { values: MAX_VALUES } });
  if (!isObject(value)) throw new RequestFailed('The file is not a YAML mapping.');
  return value;
}

function bracketDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [bracket] of text.matchAll(/[[{}\]]/g)) {
    depth = bracket === '[' || bracket === '{' ? depth + 1 : Math.max(0, depth - 1);
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

function parse(text: string): unknown {
  const lines = new LineCounter();
  try {
    const document = parseDocument(text, {
      ...{ version: '1.1', merge: true, prettyErrors: false, logLevel: 'error', lineCounter: lines },
      // Its own check takes the square of their number.
      uniqueKeys: false,
    });
    const [error] = document.errors;
    if (error !== undefined) {
      const { line, col } = lines.linePos(error.pos[0]);
      throw new RequestFailed(`The file is not YAML: ${error.code} in line ${line}, column ${col}.`);
    }
    const counts = { nodes: 0, aliases: 0 };
    visit(document, (_, node) => {
      counts.nodes++;
      if (isAlias(node)) counts.aliases++;
      if (isMap(node)) refuseDoubles(node, lines);
      if (isNode(node) && isOdd(node)) throw oddValue(lines.linePos(node.range?.[0] ?? 0).line);
    });
    if (counts.nodes * counts.aliases > MAX_COPIES) throw tooMuch();
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    if (error instanceof RequestFailed) throw error;
    // The parser recurses; an excessive reference throws as well.
    if (error instanceof RangeError) throw tooDeep();
    throw error instanceof ReferenceError ? tooMuch() : oddMerge();
  }
}

function refuseDoubles({ items }: YAMLMap, lines: LineCounter): void {
  const names = new Set<unknown>();
  for (const { key } of items) {
    if (!isScalar(key) || key.value === '<<') continue;
    if (names.has(key.value)) {
      const { line } = lines.linePos(key.range?.[0] ?? 0);
      throw new RequestFailed(`The file repeats the name in line ${line}.`);
    }
    names.add(key.value);
  }
}

/** Collections that are no plain list or mapping, bytes, and numbers without an end. */
function isOdd(node: Node): boolean {
  if (!isScalar(node)) return /:(?:set|omap|pairs)$/.test(node.tag ?? '');
  const { value } = node;
  if (typeof value === 'number') return !Number.isFinite(value);
  return typeof value === 'object' && value !== null && !(value instanceof Date);
}

interface Reading {
  readonly depth: number;
  readonly left: { values: number };
}

/** Converts dates to text; refuses types outside of JSON (sets, bytes, infinities). */
function toJson(value: unknown, { depth, left }: Reading): JsonValue {
  if (depth > MAX_DEPTH) throw tooDeep();
  left.values--;
  if (left.values < 0) throw tooMuch();
  const inner = { depth: depth + 1, left };
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' || typeof value === 'bigint') return toNumber(Number(value));
  if (value instanceof Date) return value.toISOString().replace(/T00:00:00\.000Z$/, '');
  if (Array.isArray(value)) return value.map((one) => toJson(one, inner));
  if (Object.getPrototypeOf(value) !== Object.prototype) throw oddValue();
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, toJson(one, inner)]));
}

function toNumber(value: number): number {
  if (!Number.isFinite(value)) throw oddValue();
  return value;
}

const tooMuch = () => new RequestFailed("The file's anchors and aliases expand beyond the limit.");
const oddMerge = () => new RequestFailed('The file is not YAML: a "<<" merges something other than mappings.');
const tooDeep = () => new RequestFailed('The file is nested too deeply.');
const oddValue = (line?: number) => {
  const at = line === undefined ? '' : ` in line ${line}`;
  return new RequestFailed(`The file has a value${at} that is neither text, a number, a list nor a mapping.`);
};
