import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonValue } from '@llm0/core/chat/json';
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseDocument,
  visit,
} from 'yaml';
import { MONEY } from '../../admin/fields/json-money';
import { RequestFailed } from '../admin-client';
import { type ConfigProblem, InvalidConfig, type Path } from './config-problem';

const MAX_FILE_BYTES = 16 * 1024 * 1024;
/** Maximum of references per anchor, as the parser counts them. */
const MAX_ALIASES = 1000;
const TOO_MUCH = 'is nested too deeply, or its anchors and aliases expand beyond the limit';
const FILE = /\.(?:ya?ml|json)$/i;
const DECIMAL = /^-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

/** A file of the configuration. */
export interface ConfigSource {
  readonly path: string;
  /** As JSON; amounts of money are text, exactly as the file has them. */
  readonly value: JsonValue;
  /** Line of the deepest part of a path that the file has, from 1. */
  lineOf(path: Path): number;
}

/** The file, or all YAML and JSON files of the folder by name. Throws `InvalidConfig`, or `RequestFailed` without any. */
export async function readSources(path: string): Promise<readonly ConfigSource[]> {
  const files = await filesOf(path);
  if (files.length === 0) throw new RequestFailed(`${path} has no .yaml, .yml or .json file.`);
  const read = await Promise.all(files.map(readSource));
  const problems = read.flatMap((one) => ('message' in one ? [one] : []));
  if (problems.length > 0) throw new InvalidConfig(problems);
  return read.flatMap((one) => ('message' in one ? [] : [one]));
}

async function filesOf(path: string): Promise<readonly string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const names = (await readdir(path)).filter((name) => FILE.test(name));
    return names.sort().map((name) => join(path, name));
  } catch {
    throw new RequestFailed(`${path} cannot be read.`);
  }
}

async function readSource(path: string): Promise<ConfigSource | ConfigProblem> {
  const file = Bun.file(path);
  const refuse = (message: string, line = 1): ConfigProblem => ({ file: path, line, path: [], message });
  let text: string;
  try {
    if (file.size > MAX_FILE_BYTES) return refuse(`must have at most ${MAX_FILE_BYTES} bytes`);
    text = await file.text();
  } catch {
    throw new RequestFailed(`${path} cannot be read.`);
  }
  const lines = new LineCounter();
  try {
    const document: Document = parseDocument(text, {
      ...{ merge: true, resolveKnownTags: false, prettyErrors: false, logLevel: 'error', lineCounter: lines },
    });
    const [error] = document.errors;
    // The parser's own words may quote a secret.
    if (error !== undefined) return refuse(nameOf(error.code), lines.linePos(error.pos[0]).line);
    keepMoney(document);
    const value = document.toJS({ maxAliasCount: MAX_ALIASES }) as JsonValue;
    return { path, value: value ?? null, lineOf: (at) => lines.linePos(offsetOf(document, at)).line };
  } catch (error) {
    const isExcess = error instanceof RangeError || error instanceof ReferenceError;
    return refuse(isExcess ? TOO_MUCH : 'is not YAML: a "<<" merges something other than mappings');
  }
}

const nameOf = (code: string): string =>
  code === 'DUPLICATE_KEY' ? 'the field is given twice' : `is not YAML: ${code.toLowerCase().replaceAll('_', ' ')}`;

/** A float could not hold each amount. */
function keepMoney(document: Document): void {
  visit(document, {
    Pair: (_, { key, value }: Pair) => {
      if (!isScalar(key) || !isScalar(value) || typeof value.value !== 'number') return;
      const { source = '' } = value;
      if (MONEY.test(String(key.value)) && DECIMAL.test(source)) value.value = source;
    },
  });
}

function offsetOf(document: Document, path: Path): number {
  let node: unknown = document.contents;
  let offset = 0;
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
      if (pair === undefined) break;
      offset = (isNode(pair.key) ? pair.key.range?.[0] : undefined) ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(step)];
      offset = (isNode(node) ? node.range?.[0] : undefined) ?? offset;
    } else break;
  }
  return offset;
}
