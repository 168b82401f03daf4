import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { asNumber, asObject, asString } from '../translation/read-json';
import { resolveReference } from '../translation/walk-schema';

const MAX_DEPTH = 20;
const MAX_ITEMS = 20;

/** A minimal valid instance of a JSON schema. Strings come from `words` if they fit. */
export function instanceOf(schema: JsonObject, words: string): JsonValue {
  return build(schema, { root: schema, words, depth: 0 });
}

interface BuildContext {
  readonly root: JsonObject;
  readonly words: string;
  readonly depth: number;
}

function build(schema: JsonObject, context: BuildContext): JsonValue {
  if (context.depth > MAX_DEPTH) return null;
  const inner = { ...context, depth: context.depth + 1 };
  const target = follow(schema, context.root);
  if (target !== schema) return build(target, inner);
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum) && schema.enum[0] !== undefined) return schema.enum[0];
  if (schema.default !== undefined) return schema.default;
  const [option] = [schema.anyOf, schema.oneOf].flatMap((list) => (Array.isArray(list) ? [asObject(list[0])] : []));
  if (option !== undefined) return build({ ...without(schema, ['anyOf', 'oneOf']), ...option }, inner);
  if (Array.isArray(schema.allOf)) return build(mergeAll(schema, inner), inner);
  const type = Array.isArray(schema.type) ? asString(schema.type[0]) : asString(schema.type);
  const builder = BUILDERS.get(type ?? (schema.properties === undefined ? 'any' : 'object'));
  return builder === undefined ? {} : builder(schema, inner);
}

function follow(schema: JsonObject, root: JsonObject): JsonObject {
  const reference = asString(schema.$ref);
  return reference?.startsWith('#') === true ? (resolveReference(root, reference) ?? {}) : schema;
}

function without(schema: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => !names.includes(name)));
}

function mergeAll(schema: JsonObject, context: BuildContext): JsonObject {
  const merged: JsonObject = without(schema, ['allOf']);
  for (const item of Array.isArray(schema.allOf) ? schema.allOf : []) {
    const part = follow(asObject(item) ?? {}, context.root);
    const required = [...list(merged.required), ...list(part.required)];
    const properties = { ...asObject(merged.properties), ...asObject(part.properties) };
    Object.assign(merged, part, { required, properties });
  }
  return merged;
}

function list(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

type Builder = (schema: JsonObject, context: BuildContext) => JsonValue;

const BUILDERS: ReadonlyMap<string, Builder> = new Map<string, Builder>([
  ['object', buildObject],
  ['array', buildArray],
  ['string', buildString],
  ['integer', (schema) => buildNumber(schema, 1)],
  ['number', (schema) => buildNumber(schema, 0)],
  ['boolean', () => true],
  ['null', () => null],
]);

function buildObject(schema: JsonObject, context: BuildContext): JsonObject {
  const properties = asObject(schema.properties) ?? {};
  const object: JsonObject = {};
  for (const name of list(schema.required)) {
    if (typeof name === 'string') object[name] = build(asObject(properties[name]) ?? {}, context);
  }
  return object;
}

function buildArray(schema: JsonObject, context: BuildContext): JsonValue[] {
  const length = Math.min(asNumber(schema.minItems) ?? 0, MAX_ITEMS);
  const item = asObject(schema.items) ?? {};
  return Array.from({ length }, () => build(item, context));
}

/** An example of each format that a validator may check. */
const FORMATS: Readonly<Record<string, string>> = {
  date: '2026-01-01',
  'date-time': '2026-01-01T00:00:00Z',
  time: '00:00:00Z',
  email: 'demo@example.com',
  uri: 'https://example.com',
  uuid: '00000000-0000-4000-8000-000000000000',
  ipv4: '192.0.2.1',
};

function buildString(schema: JsonObject, { words }: BuildContext): string {
  const format = asString(schema.format);
  if (format !== undefined && Object.hasOwn(FORMATS, format)) return FORMATS[format] ?? '';
  const min = asNumber(schema.minLength) ?? 0;
  const max = asNumber(schema.maxLength) ?? 100;
  return (words.trim() || 'demo').slice(0, max).padEnd(min, '.');
}

/** The smallest number the bounds allow, from 0 where they do. */
function buildNumber(schema: JsonObject, step: 0 | 1): number {
  const by = asNumber(schema.multipleOf) ?? (step === 1 ? 1 : 0.5);
  const least = Math.max(
    asNumber(schema.minimum) ?? Number.NEGATIVE_INFINITY,
    (asNumber(schema.exclusiveMinimum) ?? Number.NEGATIVE_INFINITY) + (schema.exclusiveMinimum === undefined ? 0 : by),
  );
  const most = asNumber(schema.maximum) ?? (asNumber(schema.exclusiveMaximum) ?? Number.POSITIVE_INFINITY) - by;
  if (least <= 0 && most >= 0) return 0;
  return least > 0 ? Math.ceil(least / by) * by : Math.floor(most / by) * by;
}
