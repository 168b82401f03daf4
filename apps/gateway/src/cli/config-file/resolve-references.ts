import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { isObject } from '../read-list';
import type { Path } from './config-problem';

const REFERENCE = /^(env|file|vault|aws-sm|gcp-sm):(.*)$/s;

/** Values of references, and problems with them. */
export interface Resolving {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The file: a relative path begins at its folder. */
  readonly file: string;
  refuse(path: Path, message: string): void;
}

/** The path of a file that the configuration names. */
export const pathFrom = (file: string, path: string): string => resolve(dirname(file), path);

/** The text that `env:NAME` or `file:PATH` stands for; undefined after a refusal, or if it is no reference. */
export function followReference(value: string, at: Path, { env, file, refuse }: Resolving): string | undefined {
  const [, kind, name = ''] = REFERENCE.exec(value) ?? [];
  if (kind === undefined) return undefined;
  if (kind === 'env') {
    const text = env[name];
    if (text !== undefined && text !== '') return text;
    refuse(at, `the variable ${name.slice(0, 100)} is not set where this runs`);
  } else if (kind === 'file') {
    const text = readSecret(pathFrom(file, name));
    if (text !== undefined && text !== '') return text;
    refuse(at, `the file ${name.slice(0, 200)} is empty or cannot be read`);
  } else refuse(at, `${kind}: is not supported; use env:NAME or file:PATH`);
  return undefined;
}

export const isReference = (value: JsonValue | undefined): value is string =>
  typeof value === 'string' && REFERENCE.test(value);

/** Without the line end that editors add; undefined if it can't be read. */
export function readSecret(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch {
    return undefined;
  }
}

/** Places of secrets: a field, a part of one (`auth.token`), or each part (`headers.*`). */
export type SecretParts = Readonly<Record<string, 'reference' | 'either'>>;

/**
 * The entry with the texts of its references. A secret (`reference`) has no other form in a file; headers and variables
 * (`either`) may also be plain.
 */
export function resolveSecrets(entry: JsonObject, at: Path, parts: SecretParts, resolving: Resolving): JsonObject {
  let resolved = entry;
  for (const [place, form] of Object.entries(parts)) {
    const [field = '', part] = place.split('.');
    const value = entry[field];
    const one = (text: JsonValue | undefined, path: Path): JsonValue | undefined => {
      if (isReference(text)) return followReference(text, path, resolving) ?? placeholderOf(field);
      if (form === 'reference' && text !== null && text !== undefined) {
        resolving.refuse(
          path,
          'must be a reference such as env:NAME or file:PATH; a secret does not belong in the file',
        );
        return placeholderOf(field);
      }
      return text;
    };
    if (part === undefined) {
      const text = one(value, [...at, field]);
      if (text !== undefined) resolved = { ...resolved, [field]: text };
      continue;
    }
    const whole = resolved[field];
    if (!isObject(whole)) continue;
    const names = part === '*' ? Object.keys(whole) : Object.hasOwn(whole, part) ? [part] : [];
    const texts = names.map((name) => [name, one(whole[name], [...at, field, name]) ?? null] as const);
    resolved = { ...resolved, [field]: { ...whole, ...Object.fromEntries(texts) } };
  }
  return resolved;
}

/** Stands for a secret while an entry is judged; it never reaches the gateway. */
export const placeholderOf = (field: string): string =>
  field.endsWith('url') ? 'https://placeholder.invalid' : 'placeholder';
