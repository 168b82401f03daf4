import { afterAll, expect, test } from 'bun:test';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@llm0/testing/stores/server-process';
import type { FetchedSecret } from './secret-reference';

const folder = temporaryFolder('google');
const asked: unknown[] = [];
const google = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === '/token') {
      const body = new URLSearchParams(await request.text());
      asked.push([body.get('grant_type'), body.get('subject_token'), body.get('audience')]);
      return Response.json({ access_token: 'federated', expires_in: 3600, token_type: 'Bearer' });
    }
    asked.push([pathname, request.headers.get('authorization')]);
    return Response.json({ accessToken: 'impersonated', expireTime: new Date(Date.now() + 3_600_000).toISOString() });
  },
});

afterAll(async () => {
  google.stop(true);
  await rm(folder, { recursive: true });
});

test("Google: the pod's identity token is exchanged, and stands for a service account", async () => {
  const root = `http://127.0.0.1:${google.port}`;
  const file = join(folder, 'credentials.json');
  await Bun.write(join(folder, 'token'), 'the.pod.jwt');
  const account = 'gateway@p.iam.gserviceaccount.com';
  await Bun.write(
    file,
    JSON.stringify({
      type: 'external_account',
      audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/k8s',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: `${root}/token`,
      service_account_impersonation_url: `${root}/v1/projects/-/serviceAccounts/${account}:generateAccessToken`,
      credential_source: { file: join(folder, 'token') },
    }),
  );
  // In a process of its own: the library keeps the credentials that it found first.
  const program = `import { fetchGoogleIdentity } from ${JSON.stringify(join(import.meta.dir, 'fetch-google'))};
    console.log(JSON.stringify(await fetchGoogleIdentity()));`;
  const child = Bun.spawn([process.execPath, '--no-env-file', '-e', program], {
    cwd: import.meta.dir,
    env: { PATH: process.env.PATH, HOME: folder, GOOGLE_APPLICATION_CREDENTIALS: file, GOOGLE_CLOUD_PROJECT: 'p' },
  });
  const { text, expiresAtMs } = (await new Response(child.stdout).json()) as FetchedSecret;
  expect(text).toBe('impersonated');
  expect(expiresAtMs ?? 0).toBeGreaterThan(Date.now() + 3_000_000);
  expect(asked).toEqual([
    [
      'urn:ietf:params:oauth:grant-type:token-exchange',
      'the.pod.jwt',
      '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/k8s',
    ],
    [`/v1/projects/-/serviceAccounts/${account}:generateAccessToken`, 'Bearer federated'],
  ]);
});
