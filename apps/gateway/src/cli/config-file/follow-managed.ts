import { readSecretManagers } from '../../config/secret-managers';
import { EnvReader } from '../../config/values';
import { createFetchSecret } from '../../secrets/fetch-secret';
import { parseReference, SecretMissing } from '../../secrets/secret-reference';
import { writeSecret } from '../../secrets/write-secret';
import type { Followed } from './resolve-references';
import { runBounded } from './run-bounded';

const ASK_MS = 10_000;
type Env = Readonly<Record<string, string | undefined>>;

const managersOf = (env: Env) => ({
  env,
  vault: readSecretManagers(new EnvReader(env)).vault,
  fetch: globalThis.fetch,
});

/** Puts a new key into the secret manager that a reference names. */
export async function storeManaged(text: string, secret: string, env: Env): Promise<void> {
  const reference = parseReference(text);
  if (reference !== undefined) await writeSecret(reference, secret, managersOf(env));
}

/** Asks secret managers, by the settings of this environment, once for each reference. */
export async function followAll(
  references: ReadonlySet<string>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<ReadonlyMap<string, Followed>> {
  const fetch = createFetchSecret(managersOf(env));
  const answers = new Map<string, Followed>();
  await runBounded([...references], async (text) => {
    const reference = parseReference(text);
    if (reference === undefined) return;
    try {
      answers.set(text, await fetch(reference, AbortSignal.timeout(ASK_MS)));
    } catch (error) {
      const isMissing = error instanceof SecretMissing;
      answers.set(text, { problem: error instanceof Error ? error.message : 'cannot be read', isMissing });
    }
  });
  return answers;
}
