import type { z } from '@hono/zod-openapi';
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { hashSecret } from '@llm0/core/keys/api-key';
import { type Kind, kindOf, secretFieldsOf } from './resource-kinds';

/** A field that a change sets; never the value of a secret. */
export interface FieldChange extends JsonObject {
  readonly field: string;
  readonly old: JsonValue;
  readonly new: JsonValue;
}

export const SECRET = '(secret)';

/** Differences of visible fields; a field that the body leaves out stays. */
export function changesOf(kind: Kind, body: JsonObject, shown: JsonObject): readonly FieldChange[] {
  const { whole, createOnly = [] } = kindOf(kind);
  const secret = secretFieldsOf(kind);
  const wanted = Object.entries(whole?.(body, shown) ?? body).filter(
    ([field]) => !secret.includes(field) && !createOnly.includes(field),
  );
  return wanted.flatMap(([field, value]) => {
    const old = shown[field] ?? null;
    return isSame(kind, field, value, old) ? [] : [{ field, old, new: value }];
  });
}

/** Both as the admin API understands them: `0.50` and `0.5` are one amount. */
function isSame(kind: Kind, field: string, wanted: JsonValue, shown: JsonValue): boolean {
  const spec = kindOf(kind);
  const read = (value: JsonValue) => canonical(spec.fields[field], spec.normal?.(field, value) ?? value);
  const [a, b] = [read(wanted), read(shown)];
  if (Bun.deepEquals(a, b)) return true;
  return a === null && !takesNull(spec.shown[field]) && isDefault(shown, spec.defaults?.[field]);
}

function canonical(schema: z.ZodType | undefined, value: JsonValue): unknown {
  const parsed = schema?.safeParse(value);
  return (parsed?.success === true ? parsed.data : value) ?? null;
}

export const takesNull = (schema: z.ZodType | undefined): boolean => schema?.safeParse(null).success === true;

/** What a field shows after null took its value away. */
function isDefault(shown: JsonValue, byDefault: JsonValue | undefined): boolean {
  if (byDefault !== undefined) return shown === byDefault;
  return typeof shown === 'object' && shown !== null && Object.keys(shown).length === 0;
}

/** Fields of the body that hold secrets. */
export function secretsOf(kind: Kind, body: JsonObject): JsonObject {
  const given = secretFieldsOf(kind).filter((field) => body[field] !== undefined);
  return Object.fromEntries(given.map((field) => [field, body[field] ?? null]));
}

const SALT_BYTES = 16;

/** A digest that tells whether secrets changed, and not more. */
export function digestOf(secrets: JsonObject, salt?: string): string {
  const own = salt ?? Buffer.from(crypto.getRandomValues(new Uint8Array(SALT_BYTES))).toString('hex');
  return `${own}:${hashSecret(`${own}\n${JSON.stringify(sorted(secrets))}`)}`;
}

export function isDigestOf(secrets: JsonObject, digest: string | null): boolean {
  return digest !== null && digestOf(secrets, digest.split(':')[0]) === digest;
}

/** The order of fields in the file doesn't count. */
function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted(value[name] ?? null)]));
}
