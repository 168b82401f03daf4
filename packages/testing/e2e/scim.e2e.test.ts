import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { AUDIENCE, startTokenIssuer, type TokenIssuer } from '../sign-on/token-issuer';
import { callAdmin } from '../stores/start-gateway';
import { ask, ON_ONE_KIND, postChat, shareEnvironment, type TestEnvironment } from './environment';

const SETUP_MS = 60_000;
/** A change by SCIM is in force by then. */
const SOON_MS = 1000;

interface Made {
  readonly id: string;
}

describe.each(ON_ONE_KIND)('SCIM at a running gateway, on %s stores', (kind) => {
  let world: TestEnvironment;
  let issuer: TokenIssuer;
  let provider: string;
  let project: string;
  let token: string;
  const group = `engineers ${crypto.randomUUID()}`;
  const make = <T = Made>(path: string, body: object) => callAdmin<T>(world.gateway, path, { body });
  const scim = async (method: string, path: string, body?: object): Promise<Made> => {
    const response = await fetch(`${world.gateway.url}/scim/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
      body: body && JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? { id: '' } : (JSON.parse(text) as Made);
  };
  const patch = (path: string, ...Operations: readonly object[]) => scim('PATCH', path, { Operations });

  beforeAll(async () => {
    world = await shareEnvironment({ kind });
    issuer = await startTokenIssuer();
    const { id: team } = await make('/teams', { name: `scim ${crypto.randomUUID()}` });
    ({ id: project } = await make('/projects', { name: `scim ${crypto.randomUUID()}`, team_id: team }));
    ({ id: provider } = await make('/identity-providers', {
      ...{ name: issuer.issuer, issuer: issuer.issuer, client_id: 'x', jwt: { audience: AUDIENCE } },
      group_roles: [{ group, team_id: team, role: 'member' }],
    }));
    ({ token } = await make<{ token: string }>('/tokens', { name: `scim ${crypto.randomUUID()}`, role: 'scim' }));
  }, SETUP_MS);
  afterAll(async () => {
    await callAdmin(world.gateway, `/identity-providers/${provider}`, { method: 'DELETE' });
    await issuer?.close();
    await world?.close();
  }, SETUP_MS);

  const statusOf = async (secret: string) => {
    const headers = { 'x-llm0-project': project };
    return (await postChat(world.gateway, secret, ask(crypto.randomUUID()), { headers })).status;
  };
  /** Waits as long as a change may take, and no longer. */
  const soon = async (secret: string, wanted: readonly number[]) => {
    const endMs = performance.now() + SOON_MS;
    let status = await statusOf(secret);
    while (!wanted.includes(status) && performance.now() < endMs) status = await statusOf(secret);
    expect(wanted).toContain(status);
  };
  /** A user as Entra sends it, and a token of the issuer without groups. */
  const newUser = async () => {
    const userName = `${crypto.randomUUID()}@example.com`;
    const sent = { userName, externalId: crypto.randomUUID(), active: 'True', displayName: 'Ann' };
    const { id } = await scim('POST', '/Users', sent);
    return { id, token: await issuer.sign({ sub: `pairwise ${id}`, oid: sent.externalId }) };
  };

  test('a group gives access, and takes it within a second; tokens without groups leave it', async () => {
    const user = await newUser();
    expect(await statusOf(user.token)).toBe(403);
    const { id } = await scim('POST', '/Groups', { displayName: group, members: [{ value: user.id }] });
    // A refusal is kept for a second.
    await Bun.sleep(SOON_MS);
    expect(await statusOf(user.token)).toBe(200);
    const { data } = await callAdmin<{ data: object[] }>(world.gateway, `/users?q=Ann`);
    expect(data).toContainEqual(expect.objectContaining({ id: user.id, subject: `pairwise ${user.id}` }));
    await patch(`/Groups/${id}`, { op: 'Remove', path: 'members', value: [{ value: user.id }] });
    await soon(user.token, [403]);
    await Bun.sleep(SOON_MS);
    await patch(`/Groups/${id}`, { op: 'Add', path: 'members', value: [{ value: user.id }] });
    await soon(user.token, [200]);
    await scim('DELETE', `/Groups/${id}`);
    await soon(user.token, [403]);
  }, 30_000);

  test('active: false and DELETE stop keys and tokens within a second', async () => {
    const [ann, bob] = [await newUser(), await newUser()];
    const members = [{ value: ann.id }, { value: bob.id }];
    const { id } = await scim('POST', '/Groups', { displayName: group, members });
    const keyOf = async (userId: string) =>
      (await make<{ key: string }>(`/projects/${project}/keys`, { name: 'own', user_id: userId })).key;
    const secrets = [await keyOf(ann.id), await keyOf(bob.id)];
    for (const secret of [...secrets, ann.token, bob.token]) expect(await statusOf(secret)).toBe(200);
    await patch(`/Users/${ann.id}`, { op: 'Replace', path: 'active', value: 'False' });
    await Promise.all([soon(secrets[0] ?? '', [401]), soon(ann.token, [401, 403])]);
    expect(await statusOf(secrets[1] ?? '')).toBe(200);
    await scim('DELETE', `/Users/${bob.id}`);
    await Promise.all([soon(secrets[1] ?? '', [401]), soon(bob.token, [401, 403])]);
    await Bun.sleep(SOON_MS);
    await patch(`/Users/${ann.id}`, { op: 'Replace', path: 'active', value: 'True' });
    await soon(ann.token, [200]);
    expect(await statusOf(secrets[0] ?? '')).toBe(401);
    await scim('DELETE', `/Groups/${id}`);
  }, 30_000);
});
