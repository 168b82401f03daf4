import type { Random } from '../../chaos/random';
import { edgeText, edgeValue, type Json, pick } from './edge-values';
import type { SampleRequest } from './sample-requests';

/** The part of a JSON schema that the admin API's description uses. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly Json[];
  readonly const?: Json;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema?: Schema }[];
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> };
}

export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

/** Fills thousands of rows, or signs out whoever plays. */
const LEFT_OUT = /\/demo|\/session$/;
const SHARE_OF_EDGES = 0.15;
const MOST_DEPTH = 6;

const asText = (value: Json) => (typeof value === 'string' ? value : JSON.stringify(value));

/** Makes requests of the admin API out of its own description, so that a new resource is played as well. */
export class AdminGrammar {
  private readonly operations: readonly (readonly [method: string, path: string, Operation])[];

  constructor(
    private readonly description: Description,
    /** Of things that exist and may be broken. */
    private readonly ids: readonly string[],
  ) {
    this.operations = Object.entries(description.paths).flatMap(([path, methods]) =>
      LEFT_OUT.test(path)
        ? []
        : Object.entries(methods).map(([method, operation]) => [method.toUpperCase(), path, operation] as const),
    );
  }

  make(random: Random): SampleRequest {
    const [method, template, operation] = pick(random, this.operations);
    const filled = template.replace(/\{[^}]{1,60}\}/g, () =>
      encodeURIComponent((random.next() < 0.7 ? pick(random, this.ids) : edgeText(random)).toWellFormed()),
    );
    const query = (operation.parameters ?? [])
      .filter((one) => one.in === 'query' && random.next() < 0.5)
      .map(({ name, schema }) => [name, asText(this.value(random, schema ?? {}))] as const)
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value.toWellFormed())}`);
    const path = `/admin/v1${filled.replace(/^(?:\/admin)?(?:\/v1)?/, '')}${query.length === 0 ? '' : `?${query.join('&')}`}`;
    const schema = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
    return { method, path, as: 'admin', ...(schema === undefined ? {} : { body: this.value(random, schema) }) };
  }

  /** A value that the schema takes, for the most part. */
  private value(random: Random, schema: Schema, depth = 0): Json {
    if (random.next() < SHARE_OF_EDGES || depth > MOST_DEPTH) return edgeValue(random);
    if (schema.$ref !== undefined) {
      const name = schema.$ref.split('/').at(-1) ?? '';
      return this.value(random, this.description.components?.schemas?.[name] ?? {}, depth + 1);
    }
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices !== undefined) return this.value(random, pick(random, choices), depth + 1);
    if (schema.allOf !== undefined) {
      return Object.assign({}, ...schema.allOf.map((part) => this.value(random, part, depth + 1))) as Json;
    }
    if (schema.const !== undefined) return schema.const;
    if (schema.enum !== undefined) return pick(random, schema.enum);
    const type = typeof schema.type === 'string' ? schema.type : pick(random, schema.type ?? ['string', 'number']);
    return this.ofType(random, type, schema, depth);
  }

  private ofType(random: Random, type: string, schema: Schema, depth: number): Json {
    if (type === 'null') return null;
    if (type === 'boolean') return random.next() < 0.5;
    if (type === 'integer' || type === 'number') {
      const { minimum = 0, maximum = 1000 } = schema;
      const number = random.between(minimum, Math.min(maximum, minimum + 1000));
      return type === 'integer' ? Math.floor(number) : number;
    }
    if (type === 'array') {
      return Array.from({ length: Math.floor(random.next() * 3) }, () =>
        this.value(random, schema.items ?? {}, depth + 1),
      );
    }
    if (type === 'object') return this.object(random, schema, depth);
    if (schema.format === 'uuid') return pick(random, this.ids);
    if (schema.format === 'date-time') return new Date(1.76e12 + random.next() * 1e10).toISOString();
    return random.next() < 0.5 ? `fuzz-${Math.floor(random.next() * 1000)}` : edgeText(random);
  }

  private object(random: Random, schema: Schema, depth: number): Json {
    const found: { [name: string]: Json } = {};
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const isNeeded = schema.required?.includes(name) === true;
      if (random.next() < (isNeeded ? 0.95 : 0.4)) found[name] = this.value(random, property, depth + 1);
    }
    const { additionalProperties: more } = schema;
    if (typeof more === 'object' && random.next() < 0.7) found[edgeText(random)] = this.value(random, more, depth + 1);
    return found;
  }
}
