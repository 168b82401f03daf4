import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { RequestFailed } from '../admin-client';
import { storeManaged } from './follow-managed';
import type { Wanted } from './read-resources';
import { isFollowedThere, pathFrom, readSecret } from './resolve-references';
import type { SecretForm } from './secret-forms';

/** Where the secret of a new key or token comes from. */
export interface KeySource {
  readonly form: SecretForm;
  /** A given one, or one that an interrupted apply already wrote. */
  readonly text?: string;
  /** The file or secret manager that gets it. */
  readonly writeTo?: string;
  /** Settings of secret managers. */
  readonly env?: Finding['env'];
}

interface Finding {
  readonly form: SecretForm;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly file: string;
  refuse(message: string): void;
}

/** Finds the secret without writing anything; undefined after a refusal. */
export function sourceOf(
  secret: NonNullable<Wanted['secret']>,
  { form, env, file, refuse }: Finding,
): KeySource | undefined {
  if ('write_to' in secret && isFollowedThere(secret.write_to)) {
    const { write_to: writeTo, text } = secret;
    if (text === undefined || form.is(text)) return { form, writeTo, env, text };
    refuse(`${writeTo} holds something else than a ${form.field}; it is not overwritten`);
    return undefined;
  }
  if ('write_to' in secret) {
    const writeTo = pathFrom(file, secret.write_to);
    if (!existsSync(writeTo)) return { form, writeTo };
    const text = readSecret(writeTo);
    if (text !== undefined && form.is(text)) return { form, writeTo, text };
    refuse(`${secret.write_to} exists and holds no ${form.field}; it is not overwritten`);
    return undefined;
  }
  const [text, name] =
    'env' in secret
      ? [env[secret.env], `the variable ${secret.env}`]
      : 'reference' in secret
        ? [secret.text, secret.reference]
        : [readSecret(pathFrom(file, secret.file)), `the file ${secret.file}`];
  if (text !== undefined && form.is(text)) return { form, text };
  const isMissing = text === undefined || text === '';
  refuse(isMissing ? `${name} is not there or empty` : `${name} must hold ${form.looks}`);
  return undefined;
}

/**
 * The secret for a new key or token. One that goes to a file or secret manager is in there before the gateway knows it:
 * an apply that is killed between the two loses no secret, and the next one uses it.
 */
export async function provideSecret({ form, text, writeTo, env }: KeySource): Promise<string> {
  const secret = text ?? form.create();
  if (text !== undefined || writeTo === undefined) return secret;
  try {
    if (env !== undefined) {
      await storeManaged(writeTo, secret, env);
      return secret;
    }
    await mkdir(dirname(writeTo), { recursive: true, mode: 0o700 });
    // Under another name first: a file is there whole or not at all.
    const part = `${writeTo}.${randomUUID()}.part`;
    await writeFile(part, `${secret}\n`, { mode: 0o600, flag: 'wx', flush: true });
    await rename(part, writeTo);
  } catch (cause) {
    throw new RequestFailed(`${writeTo} cannot be written: ${cause instanceof Error ? cause.message : cause}`);
  }
  return secret;
}
