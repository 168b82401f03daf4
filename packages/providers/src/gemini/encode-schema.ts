import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { asObject } from '../translation/read-json';

/** Members the older schema subset knows. Source: https://ai.google.dev/api/caching#Schema */
const KNOWN: ReadonlySet<string> = new Set([
  'type',
  'format',
  'title',
  'description',
  'nullable',
  'enum',
  'maxItems',
  'minItems',
  'properties',
  'required',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
  'pattern',
  'example',
  'anyOf',
  'propertyOrdering',
  'default',
  'items',
  'minimum',
  'maximum',
]);

/** A JSON schema for models that take the older subset: references resolved in place, unknown members left out. */
export function encodeOlderSchema(schema: JsonObject): JsonObject {
  return new SchemaInliner(schema).inline(schema, []);
}

class SchemaInliner {
  constructor(private readonly root: JsonObject) {}

  /** `open`: the references being resolved; one within itself ends there, as any object. */
  inline(schema: JsonObject, open: readonly string[]): JsonObject {
    const reference = typeof schema.$ref === 'string' ? schema.$ref : undefined;
    if (reference !== undefined) {
      const target = open.includes(reference) ? undefined : this.resolve(reference);
      return target === undefined ? { type: 'object' } : this.inline(target, [...open, reference]);
    }
    const inlined: JsonObject = {};
    for (const name in schema) {
      const value = schema[name];
      if (value !== undefined) this.addMember(inlined, name, value, open);
    }
    return inlined;
  }

  private addMember(to: JsonObject, name: string, value: JsonValue, open: readonly string[]): void {
    if (name === 'const') to.enum = [String(value)];
    else if (name === 'type' && Array.isArray(value)) addTypes(to, value);
    else if (name === 'oneOf' || name === 'anyOf') to.anyOf = this.inlineList(value, open);
    else if (name === 'properties') to.properties = this.inlineMap(value, open);
    else if (name === 'items') to.items = this.inline(asObject(value) ?? {}, open);
    else if (KNOWN.has(name)) to[name] = value;
  }

  private inlineList(value: JsonValue, open: readonly string[]): JsonValue {
    return Array.isArray(value) ? value.map((item) => this.inline(asObject(item) ?? {}, open)) : value;
  }

  private inlineMap(value: JsonValue, open: readonly string[]): JsonObject {
    const entries = Object.entries(asObject(value) ?? {});
    return Object.fromEntries(entries.map(([name, inner]) => [name, this.inline(asObject(inner) ?? {}, open)]));
  }

  private resolve(reference: string): JsonObject | undefined {
    if (!reference.startsWith('#/')) return undefined;
    let found: JsonValue | undefined = this.root;
    for (const step of reference.slice(2).split('/')) {
      found = asObject(found)?.[step.replaceAll('~1', '/').replaceAll('~0', '~')];
    }
    return asObject(found);
  }
}

function addTypes(to: JsonObject, types: readonly JsonValue[]): void {
  const [first, ...others] = types.filter((type) => type !== 'null');
  if (types.includes('null')) to.nullable = true;
  if (others.length === 0) to.type = first ?? 'string';
  else to.anyOf = [first ?? 'string', ...others].map((type) => ({ type }));
}
