import { isObject, type JsonObject, type JsonValue } from '@llm0/core/chat/json';

/**
 * Reduces a tool's schema to checks in linear time: no patterns, no recursion, no growing combinations. The server
 * checks the rest.
 */
const MAX_NODES = 500;
const MAX_DEPTH = 24;
const MAX_ENUM = 500;
const MAX_SCHEMA_LENGTH = 64 * 1024;

const TYPES: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);
const COUNTS = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'] as const;
const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'] as const;
const DRAFT_7 = /draft-0[4-7]/;

/** undefined where the schema is too long to be looked at. */
export function reduceSchema(schema: JsonObject): JsonObject | undefined {
  if (JSON.stringify(schema).length > MAX_SCHEMA_LENGTH) return undefined;
  return new Reduction(schema).reduce(schema, 0, []);
}

class Reduction {
  private nodes = 0;
  private readonly ignoresSiblings: boolean;

  constructor(private readonly root: JsonObject) {
    this.ignoresSiblings = typeof root.$schema === 'string' && DRAFT_7.test(root.$schema);
  }

  reduce(schema: JsonValue | undefined, depth: number, refs: readonly string[]): JsonObject {
    this.nodes += 1;
    if (!isObject(schema) || depth > MAX_DEPTH || this.nodes > MAX_NODES) return {};
    const { $ref: ref } = schema;
    const target = typeof ref === 'string' ? this.resolve(ref, refs) : undefined;
    if (typeof ref === 'string' && this.ignoresSiblings) {
      return target === undefined ? {} : this.reduce(target, depth + 1, [...refs, ref]);
    }
    const all = [
      ...(target === undefined ? [] : [this.reduce(target, depth + 1, [...refs, ref as string])]),
      ...this.each(schema.allOf, depth, refs),
    ];
    // A dropped keyword may distinguish two branches, so "one matches" is the only safe check.
    const any = [schema.anyOf, schema.oneOf]
      .map((list) => this.each(list, depth, refs))
      .filter(({ length }) => length > 0);
    const combined = [...all, ...any.map((anyOf) => ({ anyOf }))];
    return {
      ...this.plain(schema),
      ...this.parts(schema, depth, refs),
      ...(combined.length === 0 ? {} : { allOf: combined }),
    };
  }

  private each(list: JsonValue | undefined, depth: number, refs: readonly string[]): JsonObject[] {
    if (!Array.isArray(list) || this.nodes + list.length > MAX_NODES) return [];
    return list.map((one) => this.reduce(one, depth + 1, refs));
  }

  private plain(schema: JsonObject): JsonObject {
    const kept: JsonObject = {};
    const { type, required } = schema;
    const types = Array.isArray(type) ? [...new Set(type.filter((one) => TYPES.has(one)))] : [];
    if (TYPES.has(type)) kept.type = type as string;
    else if (types.length > 0) kept.type = types;
    for (const name of COUNTS) {
      const count = schema[name];
      if (typeof count === 'number' && Number.isSafeInteger(count) && count >= 0) kept[name] = count;
    }
    for (const name of BOUNDS) {
      const bound = schema[name];
      if (typeof bound === 'number' && Number.isFinite(bound)) kept[name] = bound;
    }
    if (Array.isArray(required)) {
      const names = [...new Set(required.filter((name): name is string => typeof name === 'string'))].slice(
        0,
        MAX_NODES,
      );
      if (names.length > 0) kept.required = names;
    }
    if (Array.isArray(schema.enum) && schema.enum.length > 0 && schema.enum.length <= MAX_ENUM) {
      if (schema.enum.every((value) => typeof value !== 'object' || value === null))
        kept.enum = [...new Set(schema.enum)];
    }
    if (schema.const !== undefined && (typeof schema.const !== 'object' || schema.const === null))
      kept.enum = [schema.const];
    return kept;
  }

  private parts(schema: JsonObject, depth: number, refs: readonly string[]): JsonObject {
    const kept: JsonObject = {};
    const { items, additionalProperties, patternProperties } = schema;
    const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
    if (this.nodes + properties.length > MAX_NODES) return kept;
    const named = properties.map(([name, part]) => [name, this.reduce(part, depth + 1, refs)] as const);
    if (named.length > 0) kept.properties = Object.fromEntries(named);
    if (isObject(items) && schema.prefixItems === undefined) kept.items = this.reduce(items, depth + 1, refs);
    if (patternProperties === undefined && additionalProperties === false) kept.additionalProperties = false;
    if (patternProperties === undefined && isObject(additionalProperties)) {
      kept.additionalProperties = this.reduce(additionalProperties, depth + 1, refs);
    }
    return kept;
  }

  /** undefined for a reference out of the schema or into itself. */
  private resolve(ref: string, refs: readonly string[]): JsonValue | undefined {
    if (!ref.startsWith('#/') || refs.includes(ref)) return undefined;
    let node: JsonValue | undefined = this.root;
    for (const part of ref.slice(2).split('/')) {
      const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
      node = isObject(node) && Object.hasOwn(node, name) ? node[name] : undefined;
    }
    return node;
  }
}
