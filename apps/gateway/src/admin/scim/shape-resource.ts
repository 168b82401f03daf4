// What comes in is cut to the known attributes before anything else sees it: no name of it reaches an object as it was sent.
import { type Attribute, COMMON, findAttribute, type Shape, withoutSchema } from './attributes';
import { ScimRefused } from './scim-error';

const MOST_CHARACTERS = 1000;
/** Control characters; Postgres can't store the first. */
const UNPRINTABLE = /\p{Cc}/u;

export type Value = string | boolean | Complex | readonly (string | Complex)[];
export interface Complex {
  readonly [name: string]: Value;
}

/** The attributes of a body that a client may set. Throws `invalidValue` for wrong types and without a required one. */
export function shapeResource(shape: Shape, body: unknown): Complex {
  const writable = [...COMMON, ...shape.attributes];
  const shaped = shapeParts(writable, asObject('The body', body), (name) => withoutSchema(shape, name));
  for (const { name, isRequired } of shape.attributes) {
    if (isRequired && (shaped[name] === undefined || shaped[name] === '')) throw invalid(name, 'is required');
  }
  return shaped;
}

function shapeParts(attributes: readonly Attribute[], given: object, nameOf = (name: string) => name): Complex {
  const shaped: Record<string, Value> = {};
  for (const [name, value] of Object.entries(given)) {
    const attribute = findAttribute(attributes, nameOf(name));
    if (attribute === undefined || attribute.mutability === 'readOnly') continue;
    const one = shapeValue(attribute, value);
    if (one !== undefined) shaped[attribute.name] = one;
  }
  return shaped;
}

/** undefined: unassigned. */
export function shapeValue(attribute: Attribute, value: unknown): Value | undefined {
  if (value === null || value === undefined) return undefined;
  if (attribute.isMulti !== true) return shapeOne(attribute, value);
  const values = [value].flat().map((one: unknown) => shapeOne(attribute, one));
  return values.length === 0 ? undefined : values.filter((one) => typeof one !== 'boolean');
}

/** The values of a list. */
export const listOf = (value: Value | undefined): readonly (string | Complex)[] =>
  Array.isArray(value) ? (value as readonly (string | Complex)[]) : [];

/** One value of an attribute, of several too. */
export function shapeOne(attribute: Attribute, value: unknown): string | boolean | Complex {
  const { name, type, parts } = attribute;
  if (type === 'boolean') return asBoolean(name, value);
  if (type !== 'complex') return asText(name, value);
  // Some clients send the plain value of a list.
  if (typeof value === 'string' && findAttribute(parts, 'value')) return { value: asText(name, value) };
  return shapeParts(parts ?? [], asObject(name, value));
}

function asText(name: string, value: unknown): string {
  if (typeof value !== 'string') throw invalid(name, 'must be a string');
  if (value.length > MOST_CHARACTERS) throw invalid(name, `may have at most ${MOST_CHARACTERS} characters`);
  if (UNPRINTABLE.test(value)) throw invalid(name, "can't have control characters");
  return value;
}

/** Entra sends `"True"` and `"False"`. */
function asBoolean(name: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value.toLowerCase() : undefined;
  if (text !== 'true' && text !== 'false') throw invalid(name, 'must be true or false');
  return text === 'true';
}

export function asObject(name: string, value: unknown): object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw invalid(name, 'must be an object');
}

export const invalid = (name: string, why: string) => new ScimRefused('invalidValue', `${name.slice(0, 100)} ${why}.`);
