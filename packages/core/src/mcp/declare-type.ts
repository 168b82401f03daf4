import { commentOf, nameOf, quote } from './declared-text';

type Schema = Readonly<Record<string, unknown>>;

/** Limits for the declared part of a schema; the rest is `unknown`. Schemas come from untrusted servers. */
export interface TypeBounds {
  readonly depth: number;
  /** Schemas looked at, of all kinds. */
  readonly nodes: number;
  readonly literals: number;
  readonly literalCharacters: number;
  readonly commentCharacters: number;
}

export const TYPE_BOUNDS: TypeBounds = {
  depth: 6,
  nodes: 120,
  literals: 24,
  literalCharacters: 64,
  commentCharacters: 120,
};

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const PRIMITIVES: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
};

/** A type of TypeScript for a JSON schema, as one expression. */
export function declareType(schema: unknown, bounds: TypeBounds = TYPE_BOUNDS): string {
  return new TypeWriter(schema, bounds).write(schema, 0, '');
}

class TypeWriter {
  private nodes = 0;
  /** References that are being written: one inside itself has no end. */
  private readonly open = new Set<string>();

  constructor(
    private readonly root: unknown,
    private readonly bounds: TypeBounds,
  ) {}

  write(schema: unknown, depth: number, indent: string): string {
    if (schema === false) return 'never';
    if (!isObject(schema) || depth > this.bounds.depth || ++this.nodes > this.bounds.nodes) return 'unknown';
    const type = this.writeKnown(schema, depth, indent);
    return schema.nullable === true && type !== 'unknown' ? unionOf([type, 'null']) : type;
  }

  private writeKnown(schema: Schema, depth: number, indent: string): string {
    if (typeof schema.$ref === 'string') return this.writeReference(schema.$ref, depth, indent);
    if ('const' in schema) return this.literal(schema.const);
    if (Array.isArray(schema.enum)) return this.writeEnum(schema.enum);
    const own = this.writeTyped(schema, depth, indent);
    const choices = listOf(schema.anyOf ?? schema.oneOf).slice(0, this.bounds.literals);
    const union = unionOf(choices.map((choice) => this.write(choice, depth + 1, indent)));
    const all = listOf(schema.allOf).slice(0, this.bounds.literals);
    return intersectionOf([own, union, ...all.map((part) => this.write(part, depth + 1, indent))]);
  }

  private writeTyped(schema: Schema, depth: number, indent: string): string {
    const names = Array.isArray(schema.type) ? schema.type.slice(0, 8) : [schema.type ?? guessType(schema)];
    const types = names.map((name) => {
      if (name === 'object') return this.writeObject(schema, depth, indent);
      if (name === 'array') return this.writeArray(schema, depth, indent);
      return typeof name === 'string' && Object.hasOwn(PRIMITIVES, name) ? (PRIMITIVES[name] ?? 'unknown') : 'unknown';
    });
    return unionOf(types);
  }

  private writeObject(schema: Schema, depth: number, indent: string): string {
    const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
    const more = schema.additionalProperties;
    const others = isObject(more) ? this.write(more, depth + 1, indent) : 'unknown';
    if (properties.length === 0) {
      return more === false ? '{}' : `Record<string, ${others}>`;
    }
    const inner = `${indent}  `;
    const required = new Set(listOf(schema.required));
    const lines: string[] = [];
    for (const [name, property] of properties) {
      if (this.nodes >= this.bounds.nodes || name.length > this.bounds.literalCharacters) {
        lines.push(`${inner}[more: string]: unknown;`);
        break;
      }
      const type = this.write(property, depth + 1, inner);
      const comment = isObject(property) ? commentOf(describeProperty(property), this.bounds.commentCharacters) : '';
      if (comment !== '') lines.push(`${inner}${comment}`);
      lines.push(`${inner}${nameOf(name)}${required.has(name) ? '' : '?'}: ${type};`);
    }
    return `{\n${lines.join('\n')}\n${indent}}`;
  }

  private writeArray(schema: Schema, depth: number, indent: string): string {
    const tuple = listOf(schema.prefixItems);
    if (tuple.length === 0) {
      const item = this.write(schema.items, depth + 1, indent);
      return /^[\w.]+$/.test(item) ? `${item}[]` : `Array<${item}>`;
    }
    const items = tuple.slice(0, this.bounds.literals).map((item) => this.write(item, depth + 1, indent));
    const rest = schema.items === false ? [] : [`...Array<${this.write(schema.items, depth + 1, indent)}>`];
    return `[${[...items, ...rest].join(', ')}]`;
  }

  private writeReference(reference: string, depth: number, indent: string): string {
    if (this.open.has(reference)) return 'unknown';
    this.open.add(reference);
    try {
      return this.write(this.find(reference), depth + 1, indent);
    } finally {
      this.open.delete(reference);
    }
  }

  /** Within this schema only: fetches nothing. */
  private find(reference: string): unknown {
    if (!reference.startsWith('#')) return undefined;
    let found = this.root;
    for (const part of reference.slice(1).split('/').slice(1, 20)) {
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
      found =
        typeof found === 'object' && found !== null && Object.hasOwn(found, key) ? (found as Schema)[key] : undefined;
    }
    return found;
  }

  private writeEnum(values: readonly unknown[]): string {
    const { literals } = this.bounds;
    if (values.length <= literals) return unionOf(values.map((value) => this.literal(value)));
    return unionOf(values.slice(0, literals).map((value) => PRIMITIVES[typeof value] ?? 'unknown'));
  }

  private literal(value: unknown): string {
    if (value === null) return 'null';
    if (typeof value === 'boolean') return String(value);
    if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'number';
    if (typeof value !== 'string') return 'unknown';
    return value.length > this.bounds.literalCharacters ? 'string' : quote(value);
  }
}

function guessType(schema: Schema): string {
  if ('properties' in schema || 'additionalProperties' in schema) return 'object';
  return 'items' in schema || 'prefixItems' in schema ? 'array' : 'unknown';
}

function describeProperty({ description, default: usual }: Schema): string {
  const text = typeof description === 'string' ? description : '';
  if (typeof usual !== 'string' && typeof usual !== 'number' && typeof usual !== 'boolean') return text;
  const shown = JSON.stringify(usual);
  return /default/i.test(text.slice(0, 400)) || shown.length > 40 ? text : `${text} (default ${shown})`.trim();
}

function unionOf(types: readonly string[]): string {
  const different = [...new Set(types)];
  if (different.length === 0 || different.includes('unknown')) return 'unknown';
  const needed = different.length > 1 ? different.filter((type) => type !== 'never') : different;
  return needed.map((type) => (needed.length > 1 && / & /.test(type) ? `(${type})` : type)).join(' | ');
}

function intersectionOf(types: readonly string[]): string {
  const known = [...new Set(types)].filter((type) => type !== 'unknown');
  if (known.length === 0) return 'unknown';
  return known.map((type) => (known.length > 1 && / \| /.test(type) ? `(${type})` : type)).join(' & ');
}
