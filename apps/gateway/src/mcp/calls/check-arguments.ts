// A schema that is too long, or that the validator cannot compile, checks nothing here: its server does.
import type { JsonObject } from '@llm0/core/chat/json';
import type { Ajv2020, ErrorObject, ValidateFunction } from 'ajv/dist/2020';
import { LRUCache } from 'lru-cache';
import { CallRefusal } from '../endpoint/mcp-errors';
import { reduceSchema } from './reduce-schema';

type Check = ValidateFunction | null;

/** Compiled once for each schema, keyed by content: a reloaded list has new objects. */
const compiled = new LRUCache<string, { readonly check: Check }>({ max: 2000 });
const byObject = new WeakMap<JsonObject, Check>();
const MAX_ARGUMENTS_LENGTH = 64 * 1024;
const MAX_SHOWN = 3;

let ajv: Ajv2020 | undefined;
/** Loaded by the first call of a tool. */
function loadAjv(): Ajv2020 {
  const library = require('ajv/dist/2020') as typeof import('ajv/dist/2020');
  const options = { strict: false, validateSchema: false, allErrors: false, addUsedSchema: false };
  return new library.Ajv2020({ ...options, logger: false });
}

function checkOf(schema: JsonObject): Check {
  const known = byObject.get(schema);
  if (known !== undefined) return known;
  const hash = Bun.hash(JSON.stringify(schema)).toString(36);
  const check = compiled.get(hash)?.check ?? compile(schema);
  compiled.set(hash, { check });
  byObject.set(schema, check);
  return check;
}

function compile(schema: JsonObject): Check {
  const reduced = reduceSchema(schema);
  if (reduced === undefined) return null;
  try {
    ajv ??= loadAjv();
    return ajv.compile(reduced);
  } catch {
    return null;
  }
}

/** Throws where arguments break the tool's schema: the message names the field. */
export function checkArguments(tool: string, schema: JsonObject, args: JsonObject, length?: number): void {
  if ((length ?? 0) > MAX_ARGUMENTS_LENGTH) return;
  const check = checkOf(schema);
  if (check === null || check(args)) return;
  const errors = (check.errors ?? []).slice(0, MAX_SHOWN);
  const [first] = errors;
  const message = `The arguments do not fit the schema of "${tool}": ${errors.map(explain).join('; ')}.`;
  throw new CallRefusal('invalid_request', message, {
    code: -32602,
    param: first === undefined ? 'arguments' : fieldOf(first),
  });
}

const SHOWN = 120;

/** `arguments.a.b`, the field that is missing or too much included. */
function fieldOf({ instancePath, keyword, params }: ErrorObject): string {
  const parts = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (keyword === 'required') parts.push(String(params.missingProperty));
  if (keyword === 'additionalProperties') parts.push(String(params.additionalProperty));
  return ['arguments', ...parts].join('.').slice(0, SHOWN);
}

function explain(error: ErrorObject): string {
  const field = fieldOf(error);
  if (error.keyword === 'required') return `${field} is missing`;
  if (error.keyword === 'additionalProperties') return `${field} is not known`;
  if (error.keyword === 'enum')
    return `${field} must be one of ${JSON.stringify(error.params.allowedValues).slice(0, SHOWN)}`;
  return `${field} ${error.message ?? 'does not fit'}`;
}
