import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { SignJWT, UnsecuredJWT } from 'jose';
import { AUDIENCE, startTokenIssuer, type TokenIssuer } from '../sign-on/token-issuer';
import { callAdmin } from '../stores/start-gateway';
import { ask, logRow, ON_ONE_KIND, postChat, shareEnvironment, type TestEnvironment } from './environment';

const SETUP_MS = 60_000;
/** A change of somebody's rights is in force by then. */
const SOON_MS = 1000;
const GROUP = 'engineers';

interface Made {
  readonly id: string;
}

describe.each(ON_ONE_KIND)('tokens of an identity provider in place of keys, on %s stores', (kind) => {
  let world: TestEnvironment;
  let issuer: TokenIssuer;
  let provider: string;
  /** Of a token that ends while these tests run. */
  let brief: { readonly token: string; readonly endMs: number };
  let team: string;
  let projects: readonly string[];
  const change = (path: string, body: object, method = 'PATCH') =>
    callAdmin<Made>(world.gateway, path, { method, body });

  beforeAll(async () => {
    world = await shareEnvironment({ kind });
    issuer = await startTokenIssuer();
    ({ id: team } = await change('/teams', { name: `tokens ${crypto.randomUUID()}` }, 'POST'));
    const add = () => change('/projects', { name: `tokens ${crypto.randomUUID()}`, team_id: team }, 'POST');
    projects = [(await add()).id, (await add()).id];
    const groups = { group_roles: [{ group: GROUP, team_id: team, role: 'member' }] };
    const settings = {
      name: issuer.issuer,
      issuer: issuer.issuer,
      client_id: 'x',
      jwt: { audience: AUDIENCE },
      ...groups,
    };
    ({ id: provider } = await change('/identity-providers', settings, 'POST'));
    const exp = nowS() + 3;
    brief = { token: await issuer.sign({ ...ann(), exp }), endMs: 1000 * exp };
    expect((await post(brief.token)).status).toBe(200);
  }, SETUP_MS);
  afterAll(async () => {
    await callAdmin(world.gateway, `/identity-providers/${provider}`, { method: 'DELETE' });
    await issuer?.close();
    await world?.close();
  }, SETUP_MS);

  const post = async (token: string, project: string | null = projects[0] ?? null) => {
    const headers: Record<string, string> = project === null ? {} : { 'x-llm0-project': project };
    const response = await postChat(world.gateway, token, ask(crypto.randomUUID()), { headers });
    const body = (await response.json()) as { error?: { code: string; message: string } };
    return {
      status: response.status,
      code: body.error?.code,
      message: body.error?.message,
      id: response.headers.get('x-request-id') ?? '',
    };
  };
  const ann = () => ({
    sub: `ann-${crypto.randomUUID()}`,
    email: `${crypto.randomUUID()}@example.com`,
    groups: [GROUP],
  });
  const projectOf = async (id: string) => {
    const row: object = await logRow(world.gateway, id);
    return 'project_id' in row ? row.project_id : undefined;
  };
  const userOf = async ({ email }: { readonly email: string }) =>
    (await callAdmin<{ data: Made[] }>(world.gateway, `/users?q=${email}`)).data[0]?.id ?? '';
  const keyOf = async (userId: string, project = projects[0]) => {
    const { data } = await callAdmin<{ data: (Made & { user_id: string; is_sign_on: boolean })[] }>(
      world.gateway,
      `/projects/${project}/keys?limit=100`,
    );
    return data.filter((key) => key.user_id === userId && key.is_sign_on);
  };
  /** Waits as long as a change may take, and no longer. */
  const soon = async (token: string, status: number, project?: string) => {
    const endMs = performance.now() + SOON_MS;
    for (;;) {
      const answer = await post(token, project);
      if (answer.status === status) return answer;
      if (performance.now() > endMs) throw new Error(`after ${SOON_MS} ms still ${JSON.stringify(answer)}`);
    }
  };

  test('make the user, its role and one key, whose limits and rows are those of any key', async () => {
    const person = ann();
    const token = await issuer.sign(person);
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(token)));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect((await post(await issuer.sign({ ...person, jti: 'another' }))).status).toBe(200);
    const userId = await userOf(person);
    const keys = await keyOf(userId);
    expect(keys).toHaveLength(1);
    const row = await logRow(world.gateway, answers[0]?.id ?? '');
    expect(row).toMatchObject({ api_key_id: keys[0]?.id, project_id: projects[0] });
    await change(`/projects/${projects[0]}/keys/${keys[0]?.id}`, { budget_usd: 0.000_001 });
    expect(await soon(token, 402)).toMatchObject({ code: 'key_budget_exceeded' });
    await expect(change(`/projects/${projects[0]}/keys/${keys[0]?.id}/rotate`, {}, 'POST')).rejects.toThrow('400');
  });

  test('wait for an admin where the team approves keys; a refused one stays out', async () => {
    await change(`/teams/${team}`, { key_approval: true });
    try {
      for (const [verb, status] of [
        ['approve', 200],
        ['refuse', 401],
      ] as const) {
        const person = ann();
        const token = await issuer.sign(person);
        expect(await post(token)).toMatchObject({ status: 403, code: 'permission_denied' });
        const [key] = await keyOf(await userOf(person));
        type Keys = { data: Made[] };
        const { data } = await callAdmin<Keys>(world.gateway, '/keys?state=requested&limit=100');
        expect(data.map(({ id }) => id)).toContain(key?.id ?? '');
        const path = `/projects/${projects[0]}/keys/${key?.id}/${verb}`;
        await callAdmin(world.gateway, path, { method: 'POST' });
        await soon(token, status);
        expect((await post(await issuer.sign({ ...person, jti: 'another' }))).status).toBe(status);
      }
      // Those of admins don't wait.
      const boss = ann();
      expect((await post(await issuer.sign(boss))).status).toBe(403);
      const member = { user_id: await userOf(boss), role: 'team_admin' };
      await change(`/teams/${team}/members`, member, 'POST');
      const token = await issuer.sign({ sub: boss.sub, email: boss.email });
      expect((await post(token, projects[1])).status).toBe(200);
    } finally {
      await change(`/teams/${team}`, { key_approval: false });
    }
  });

  test('a key of a person stops and works with the role, and says why', async () => {
    const email = `${crypto.randomUUID()}@example.com`;
    const { id: userId } = await change('/users', { name: 'keyholder', email }, 'POST');
    const give = (role: string) => change(`/teams/${team}/members`, { user_id: userId, role }, 'POST');
    await give('member');
    const path = `/projects/${projects[0]}/keys`;
    const { key } = (await change(path, { name: 'own', user_id: userId }, 'POST')) as Made & { key: string };
    await soon(key, 200);
    await give('viewer');
    expect(await soon(key, 403)).toMatchObject({ code: 'permission_denied' });
    await give('member');
    await soon(key, 200);
    await callAdmin(world.gateway, `/teams/${team}/members/${userId}`, { method: 'DELETE' });
    await soon(key, 403);
  });

  test('count on the project of the header, else on the default, else on the only one', async () => {
    const person = ann();
    const token = await issuer.sign(person);
    expect(await post(token, null)).toMatchObject({ status: 400 });
    expect(await post(token, crypto.randomUUID())).toMatchObject({ status: 403, code: 'permission_denied' });
    const { id } = await post(token, projects[1]);
    expect(await projectOf(id)).toBe(projects[1]);
    await change(`/users/${await userOf(person)}`, { default_project_id: projects[0] });
    const { id: later } = await soon(await issuer.sign({ ...person, jti: 'later' }), 200);
    expect(await projectOf(later)).toBe(projects[0]);
    expect(await post(await issuer.sign({ ...ann(), groups: [] }), null)).toMatchObject({ status: 403 });
  });

  test('a refused token keeps what it says: a group that is gone takes its role along, a new user can get a team', async () => {
    const person = ann();
    expect((await post(await issuer.sign(person), projects[0])).status).toBe(200);
    expect(await post(await issuer.sign({ ...person, groups: [], jti: '2' }), projects[0])).toMatchObject({
      status: 403,
    });
    const { groups: _none, ...bare } = person;
    expect(await post(await issuer.sign({ ...bare, jti: '3' }), projects[0])).toMatchObject({ status: 403 });
    const { groups: _gone, ...newcomer } = ann();
    expect(await post(await issuer.sign(newcomer), null)).toMatchObject({ status: 403 });
    expect(await userOf(newcomer)).not.toBe('');
  });

  const nowS = () => Math.floor(Date.now() / 1000);
  test.each<[string, () => Promise<string> | string]>([
    [
      'without a signature',
      () => new UnsecuredJWT({ iss: issuer.issuer, aud: AUDIENCE, ...ann() }).setExpirationTime('1h').encode(),
    ],
    [
      'signed with the public key as a shared secret',
      () =>
        new SignJWT({ iss: issuer.issuer, aud: AUDIENCE, exp: nowS() + 600, ...ann() })
          .setProtectedHeader({ alg: 'HS256' })
          .sign(new TextEncoder().encode(issuer.publicText())),
    ],
    ['for another audience', () => issuer.sign({ ...ann(), aud: 'other' })],
    ['of an unknown issuer', () => issuer.sign({ ...ann(), iss: 'https://elsewhere.example.com' })],
    ['of a key that the issuer does not have', () => issuer.sign(ann(), { kid: 'none' })],
    ['that has ended', () => issuer.sign({ ...ann(), exp: nowS() - 1 })],
    ['without an end', () => issuer.sign({ ...ann(), exp: undefined })],
    ['without a subject', () => issuer.sign({ ...ann(), sub: undefined })],
    ['of a time to come', () => issuer.sign({ ...ann(), nbf: nowS() + 400 })],
    [
      'with another body',
      async () =>
        (await issuer.sign(ann())).replace(/\.[^.]+\./, `.${btoa(JSON.stringify({ ...ann(), iss: issuer.issuer }))}.`),
    ],
    ['that is none', () => 'eyJhbGciOiJub25lIn0'],
  ])('%s: 401, and nobody is made', async (_, make) => {
    const { status, message } = await post(await make());
    expect(status).toBe(401);
    // In our words, not by codes of the library.
    expect(message).toMatch(/^This token isn't valid here\. [A-Z][^_]+\.$/);
  });

  test('of an issuer whose clock is four minutes ahead work', async () => {
    expect((await post(await issuer.sign({ ...ann(), iat: nowS() + 240, nbf: nowS() + 240 }))).status).toBe(200);
  });

  test('change within a second with the role, the user, the key and the provider, and work again after it', async () => {
    type Call = [path: string, body: object, method?: string];
    const audience = (name: string): Call => [`/identity-providers/${provider}`, { jwt: { audience: name } }];
    const ofPerson: readonly ((userId: string, keyId: string) => [take: Call, give: Call])[] = [
      (userId) => {
        const member = (role: string): Call => [`/teams/${team}/members`, { user_id: userId, role }, 'POST'];
        return [member('billing'), member('member')];
      },
      (userId) => [
        [`/users/${userId}`, { is_active: false }],
        [`/users/${userId}`, { is_active: true }],
      ],
      (_, keyId) => {
        const path = `/projects/${projects[0]}/keys/${keyId}`;
        return [
          [path, {}, 'DELETE'],
          [path, { is_active: true }],
        ];
      },
    ];
    const check = async (changesOf: (typeof ofPerson)[number]) => {
      const person = ann();
      const token = await issuer.sign(person);
      expect((await post(token)).status).toBe(200);
      const userId = await userOf(person);
      const [take, give] = changesOf(userId, (await keyOf(userId))[0]?.id ?? '');
      await change(...take);
      expect([401, 403]).toContain((await refusedSoon(token)).status);
      await change(...give);
      // A refusal is kept for a second.
      await soon(token, 200);
    };
    await Promise.all(ofPerson.map(check));
    // Everybody's.
    await check(() => [audience('other'), audience(AUDIENCE)]);
    await check(() => [[`/identity-providers/${provider}`, { jwt: null }], audience(AUDIENCE)]);
  }, 30_000);
  const refusedSoon = async (token: string) => {
    const endMs = performance.now() + SOON_MS;
    let answer = await post(token);
    while (answer.status === 200 && performance.now() < endMs) answer = await post(token);
    return answer;
  };

  test('end with their time, also when they were used before', async () => {
    await Bun.sleep(Math.max(0, brief.endMs - Date.now()));
    expect(await post(brief.token)).toMatchObject({ status: 401 });
  });

  test('follow the keys of the issuer; those that are known do without it, others hear of it', async () => {
    const before = issuer.asked();
    const person = ann();
    expect((await post(await issuer.sign(person))).status).toBe(200);
    expect(issuer.asked()).toBe(before);
    // They are asked for at most twice within two seconds, which begin when the gateway has them.
    await Bun.sleep(Math.max(0, issuer.askedAtMs() + 2500 - performance.now()));
    await issuer.rotate();
    const known = await issuer.sign(person);
    expect((await post(known)).status).toBe(200);
    expect(issuer.asked()).toBe(before + 1);
    await callAdmin(world.gateway, `/identity-providers/${provider}`, {
      method: 'PATCH',
      body: { name: `${issuer.issuer} again` },
    });
    expect((await post(known)).status).toBe(200);
    await issuer.close();
    expect((await post(known)).status).toBe(200);
    await callAdmin(world.gateway, `/identity-providers/${provider}`, {
      method: 'PATCH',
      body: { name: `${issuer.issuer} gone` },
    });
    expect(await post(known)).toMatchObject({ status: 503 });
  });
});
