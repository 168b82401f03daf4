import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { isManaged, parseReference } from '../../secrets/secret-reference';
import { isObject } from '../read-list';
import type { Path } from './config-problem';

/** Text of a secret manager's secret, or why there is none. */
export type Followed =
  | { readonly text: string }
  /** `isMissing`: the manager has no such secret, or not this field of it. */
  | { readonly problem: string; readonly isMissing?: boolean };
/** undefined while the manager has not been asked. */
export type FollowManaged = (reference: string) => Followed | undefined;

/** Values of references, and problems with them. */
export interface Resolving {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The file: a relative path begins at its folder. */
  readonly file: string;
  readonly managed: FollowManaged;
  refuse(path: Path, message: string): void;
}

/** The path of a file that the configuration names. */
export const pathFrom = (file: string, path: string): string => resolve(dirname(file), path);

/** The text that a reference stands for; undefined after a refusal, or if it is none. */
export function followReference(
  value: string,
  at: Path,
  { env, file, managed, refuse }: Resolving,
): string | undefined {
  const reference = parseReference(value);
  if (reference === undefined) return undefined;
  const { kind, name } = reference;
  if (kind === 'env') {
    const text = env[name];
    if (text !== undefined && text !== '') return text;
    refuse(at, `the variable ${name.slice(0, 100)} is not set where this runs`);
  } else if (kind === 'file') {
    const text = readSecret(pathFrom(file, name));
    if (text !== undefined && text !== '') return text;
    refuse(at, `the file ${name.slice(0, 200)} is empty or cannot be read`);
  } else {
    const followed = managed(value);
    if (followed !== undefined && 'text' in followed) return followed.text;
    if (followed !== undefined) refuse(at, `${value.slice(0, 200)}: ${followed.problem}`);
  }
  return undefined;
}

export const isReference = (value: JsonValue | undefined): value is string =>
  typeof value === 'string' && parseReference(value) !== undefined;

/** A reference of a secret manager, which the gateway can follow too. */
export function isFollowedThere(value: string): boolean {
  const kind = parseReference(value)?.kind;
  return kind !== undefined && isManaged(kind);
}

/** Without the line end that editors add; undefined if it can't be read. */
export function readSecret(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch {
    return undefined;
  }
}

/** Places of secrets: a field, a part of one (`auth.token`), or each part (`headers.*`). */
export type SecretParts = Readonly<Record<string, 'reference' | 'either' | 'live'>>;

/**
 * The entry with the texts of its references. A secret (`reference`) has no other form in a file; headers and variables
 * (`either`) may also be plain. The gateway itself follows references of secret managers that may change (`live`).
 */
export function resolveSecrets(entry: JsonObject, at: Path, parts: SecretParts, resolving: Resolving): JsonObject {
  let resolved = entry;
  for (const [place, form] of Object.entries(parts)) {
    const [field = '', part] = place.split('.');
    const value = entry[field];
    const one = (text: JsonValue | undefined, path: Path): JsonValue | undefined => {
      if (form === 'live' && isReference(text) && isFollowedThere(text)) return text;
      if (isReference(text)) return followReference(text, path, resolving) ?? placeholderOf(field);
      if (form !== 'either' && text !== null && text !== undefined) {
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
