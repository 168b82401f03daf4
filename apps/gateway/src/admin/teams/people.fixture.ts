import type { Role } from '@llm0/core/access/roles';
import { hashSecret } from '@llm0/core/keys/api-key';
import { createUserSession } from '@llm0/drizzle/queries/access/admin-sessions';
import { identityProviderRows } from '@llm0/drizzle/queries/access/identity-providers';
import { writeLogBodies } from '@llm0/drizzle/queries/logs/log-bodies';
import { sampleCall } from '@llm0/testing/stores/sample-call';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { type AdminUnderTest, type Answer, type CallOptions, storeRecords } from '../admin.fixture';

export interface Person {
  readonly id: string;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  request(path: string, method?: string): Promise<Response>;
}

/** A team in an organization of its own, with one of everything that a project has. */
export interface Kit {
  readonly organizationId: string;
  readonly teamId: string;
  readonly projectId: string;
  readonly keyId: string;
  readonly requestId: string;
  readonly toolCallId: string;
  readonly aliasId: string;
  readonly alertId: string;
  readonly annotationId: string;
  readonly labelBudgetId: string;
  /** In prompts, customers, labels and errors of its requests. */
  readonly mark: string;
}

/** Creates something; throws unless it is created. */
async function make(admin: AdminUnderTest, path: string, body: object): Promise<{ id: string }> {
  const answer = await admin.call('POST', path, { body });
  if (answer.status !== 201) throw new Error(`${path}: ${answer.text}`);
  return answer.body;
}

export async function makeKit(admin: AdminUnderTest, atMs: number): Promise<Kit> {
  const mark = `mark-${crypto.randomUUID().slice(0, 8)}`;
  const { id: organizationId } = await make(admin, '/organizations', { name: `org ${mark}` });
  const { id: teamId } = await make(admin, '/teams', { organization_id: organizationId, name: `team ${mark}` });
  const { id: projectId } = await make(admin, '/projects', {
    name: `project ${mark}`,
    team_id: teamId,
    monthly_cap_usd: 5,
  });
  const { id: keyId } = await make(admin, `/projects/${projectId}/keys`, { name: `key ${mark}` });
  const alias = { alias: mark, project_id: projectId, targets: [{ provider: 'openai', model: 'gpt-5' }] };
  const { id: aliasId } = await make(admin, '/aliases', alias);
  const alert = { name: mark, kind: 'spend', project_id: projectId, webhook_url: 'https://example.com/x' };
  const { id: alertId } = await make(admin, '/alerts', alert);
  const { id: annotationId } = await make(admin, '/annotations', { text: mark, project_id: projectId });
  const budget = { project_id: projectId, label: 'app', value: mark, daily_usd: 1 };
  const { id: labelBudgetId } = await make(admin, '/label-budgets', budget);
  await admin.call('PUT', `/projects/${projectId}/customers/${mark}/limits`, { body: { requests_per_day: 7 } });
  const record = sampleRecord({
    ...{ projectId, apiKeyId: keyId, createdAtMs: atMs, customerId: mark, labels: { app: mark } },
    ...{ costNanoUsd: 1_000_000, errorMessage: mark, failoverOccurred: true, runId: mark },
  });
  const call = sampleCall({ projectId, apiKeyId: keyId, createdAtMs: atMs, tool: mark });
  await storeRecords(admin, [record, call]);
  const texts = { request: JSON.stringify({ text: `prompt ${mark}` }), upstreamRequest: null, response: '{}' };
  await writeLogBodies(
    admin.database.db,
    [record.id, call.id].map((requestId) => ({ requestId, projectId, createdAtMs: atMs, ...texts })),
  );
  return {
    ...{ organizationId, teamId, projectId, keyId, aliasId, alertId, annotationId, labelBudgetId, mark },
    ...{ requestId: record.id, toolCallId: call.id },
  };
}

/** A user with an open session, without any role. */
export async function makePerson(admin: AdminUnderTest, name: string = crypto.randomUUID()): Promise<Person> {
  const { db } = admin.database;
  const provider = {
    ...{ name: `people ${crypto.randomUUID()}`, issuer: `https://${crypto.randomUUID()}.test`, clientId: 'c' },
    ...{ scopes: 'openid', groupsClaim: 'groups' },
  };
  const { id: identityProviderId } = await identityProviderRows.create(db, provider);
  const { id: userId } = await make(admin, '/users', { name, email: `${crypto.randomUUID()}@example.com` });
  const secret = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex');
  const times = { expiresAtMs: Date.now() + 3_600_000, authenticatedAtMs: Date.now() };
  const session = { sessionHash: hashSecret(secret), ...times };
  await createUserSession(db, { ...session, userId, identityProviderId, signInHash: crypto.randomUUID() });
  const headers = { cookie: `llm0_session=${secret}`, 'sec-fetch-site': 'same-origin' };
  return {
    id: userId,
    call: (method, path, options = {}) =>
      admin.call(method, path, { ...options, token: null, headers: { ...headers, ...options.headers } }),
    request: async (path, method) => admin.request(`/v1${path}`, { method, headers }),
  };
}

export async function give(admin: AdminUnderTest, teamId: string, userId: string, role: Role, more: object = {}) {
  const answer = await admin.call('POST', `/teams/${teamId}/members`, { body: { user_id: userId, role, ...more } });
  if (answer.status !== 201) throw new Error(answer.text);
}
