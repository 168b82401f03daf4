import { readSecretManagers } from '../../config/secret-managers';
import { EnvReader } from '../../config/values';
import { createFetchSecret } from '../../secrets/fetch-secret';
import { parseReference } from '../../secrets/secret-reference';
import type { Followed } from './resolve-references';
import { runBounded } from './run-bounded';

const ASK_MS = 10_000;

/** Asks secret managers, by the settings of this environment, once for each reference. */
export async function followAll(
  references: ReadonlySet<string>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<ReadonlyMap<string, Followed>> {
  const { vault } = readSecretManagers(new EnvReader(env));
  const fetch = createFetchSecret({ env, vault, fetch: globalThis.fetch });
  const answers = new Map<string, Followed>();
  await runBounded([...references], async (text) => {
    const reference = parseReference(text);
    if (reference === undefined) return;
    try {
      answers.set(text, await fetch(reference, AbortSignal.timeout(ASK_MS)));
    } catch (error) {
      answers.set(text, { problem: error instanceof Error ? error.message : 'cannot be read' });
    }
  });
  return answers;
}
