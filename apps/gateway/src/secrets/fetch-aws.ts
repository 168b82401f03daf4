import type { FetchedSecret } from './secret-reference';

/** Region of a full ARN; of a mere name, the environment says it. */
const ARN_REGION = /^arn:[^:]+:secretsmanager:([a-z0-9-]+):/;

/** Source: https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html */
export async function fetchAwsSecret(name: string, signal: AbortSignal): Promise<string> {
  const { GetSecretValueCommand, SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
  const [, region] = ARN_REGION.exec(name) ?? [];
  const client = new SecretsManagerClient({ ...(region === undefined ? {} : { region }), maxAttempts: 2 });
  try {
    const answer = await client.send(new GetSecretValueCommand({ SecretId: name }), { abortSignal: signal });
    return answer.SecretString ?? Buffer.from(answer.SecretBinary ?? []).toString('utf8');
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
