import { type FetchedSecret, type Merge, SecretMissing } from './secret-reference';

/** Region of a full ARN; of a mere name, the environment says it. */
const ARN_REGION = /^arn:[^:]+:secretsmanager:([a-z0-9-]+):/;

/** Source: https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html */
export function fetchAwsSecret(name: string, signal: AbortSignal): Promise<string> {
  return withClient(name, async ({ client, aws }) => {
    const answer = await client.send(new aws.GetSecretValueCommand({ SecretId: name }), { abortSignal: signal });
    return answer.SecretString ?? Buffer.from(answer.SecretBinary ?? []).toString('utf8');
  });
}

/** Creates the secret if there is none. */
export async function writeAwsSecret(name: string, merge: Merge, abortSignal: AbortSignal): Promise<void> {
  const present = await fetchAwsSecret(name, abortSignal).catch((error: unknown) => {
    if (error instanceof SecretMissing) return null;
    throw error;
  });
  const SecretString = merge(present);
  await withClient(name, async ({ client, aws }) => {
    if (present === null) await client.send(new aws.CreateSecretCommand({ Name: name, SecretString }), { abortSignal });
    else await client.send(new aws.PutSecretValueCommand({ SecretId: name, SecretString }), { abortSignal });
  });
}

type Library = typeof import('@aws-sdk/client-secrets-manager');
interface Opened {
  readonly client: InstanceType<Library['SecretsManagerClient']>;
  readonly aws: Library;
}

async function withClient<T>(name: string, work: (opened: Opened) => Promise<T>): Promise<T> {
  const aws = await import('@aws-sdk/client-secrets-manager');
  const [, region] = ARN_REGION.exec(name) ?? [];
  const client = new aws.SecretsManagerClient({ ...(region === undefined ? {} : { region }), maxAttempts: 2 });
  try {
    return await work({ client, aws });
  } catch (error) {
    if (error instanceof aws.ResourceNotFoundException) throw new SecretMissing(error.message);
    throw error;
  } finally {
    client.destroy();
  }
}

type AwsChain = ReturnType<typeof import('@aws-sdk/credential-provider-node').defaultProvider>;
let chain: AwsChain | undefined;

/** Credentials of a role (IRSA, pod identity, instance), as `<access key id>:<secret>[:<session token>]`. */
export async function fetchAwsIdentity(): Promise<FetchedSecret> {
  const { defaultProvider } = await import('@aws-sdk/credential-provider-node');
  chain ??= defaultProvider();
  // A refusal by the vendor brings us here before they expire.
  const { accessKeyId, secretAccessKey, sessionToken, expiration } = await chain({ forceRefresh: true });
  const text = [accessKeyId, secretAccessKey, ...(sessionToken === undefined ? [] : [sessionToken])].join(':');
  return { text, expiresAtMs: expiration?.getTime() };
}
