import type { DefaultAzureCredential } from '@azure/identity';
import type { FetchedSecret } from './secret-reference';

const SCOPE = 'https://cognitiveservices.azure.com/.default';
let credential: DefaultAzureCredential | undefined;

/** A Microsoft Entra token for Azure OpenAI: managed identity, workload identity or a service principal. */
export async function fetchAzureIdentity(signal: AbortSignal): Promise<FetchedSecret> {
  const library = await import('@azure/identity');
  credential ??= new library.DefaultAzureCredential();
  const { token, expiresOnTimestamp } = await credential.getToken(SCOPE, { abortSignal: signal });
  return { text: token, expiresAtMs: expiresOnTimestamp };
}
