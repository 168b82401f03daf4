import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Permission, ROLE_TABLE, ROLES, type Role } from '@llm0/core/access/roles';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, type Answer, openAdmin } from '../admin.fixture';
import { give, type Kit, makeKit, makePerson, type Person } from '../teams/people.fixture';
import { ROUTE_TABLE, type Where } from './route-table';

const AT_MS = Date.parse('2026-04-07T10:00:00.000Z');
const NOBODY = '00000000-0000-4000-8000-00000000dead';
// The rules are in code, not in the store.
const kind = TEST_DATABASES.at(-1) as (typeof TEST_DATABASES)[number];

let admin: AdminUnderTest;
let own: Kit;
let other: Kit;
const people = new Map<Role, Person>();
beforeAll(async () => {
  admin = await openAdmin(kind);
  [own, other] = [await makeKit(admin, AT_MS), await makeKit(admin, AT_MS)];
  for (const role of ROLES) {
    const person = await makePerson(admin);
    people.set(role, person);
    await give(admin, own.teamId, person.id, role);
  }
}, 60_000);
afterAll(() => admin.close());

/** Path of a route for a kit. Without a right to look, nobody learns whether the other ids exist. */
function pathOf(route: string, where: Where, kit: Kit): string {
  const rows: Partial<Record<Where, string>> = {
    ...{ alias: kit.aliasId, alert: kit.alertId, annotation: kit.annotationId, label_budget: kit.labelBudgetId },
    ...{ team: kit.teamId, organization: kit.organizationId, project: kit.projectId, key: kit.projectId },
    ...{ request: kit.toolCallId },
  };
  const values: Readonly<Record<string, string>> = {
    ...{ id: rows[where] ?? NOBODY, key_id: kit.keyId, request_id: kit.requestId, customer_id: kit.mark },
    ...{ user_id: NOBODY, name: 'x', provider: 'x', model: 'x', grant_id: NOBODY },
  };
  const path = route.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? 'x');
  const range = `from=2026-04-07T00:00:00Z&to=2026-04-08T00:00:00Z`;
  if (where === 'live') return `${path}?topics=logs&once=true&project_id=${kit.projectId}`;
  if (where !== 'list') return path;
  return `${path}?project_id=${kit.projectId}&${QUERIES[route] ?? ''}${route === '/timeline' ? range : ''}`;
}

const QUERIES: Readonly<Record<string, string>> = {
  '/logs/suggestions': 'field=model',
  '/key-names': `ids=${NOBODY}`,
  '/alert-preview': 'kind=error_rate',
  '/stats/differences': 'region_from=2026-04-07&region_to=2026-04-08&min_ms=0&max_ms=1',
};

/** Names the place and is otherwise invalid or without effect. */
const bodyOf = (kit: Kit) => ({ project_id: kit.projectId, team_id: kit.teamId, organization_id: kit.organizationId });

/** Passes the guard and then changes nothing: the tag is of no version. */
async function ask(who: Pick<Person, 'call'>, route: string, kit: Kit): Promise<Answer> {
  const [method = '', path = ''] = route.split(' ');
  const [, where] = ROUTE_TABLE[route] ?? ['see', 'system'];
  const hasBody = method !== 'GET' && method !== 'DELETE';
  const body = hasBody ? (where === 'key' || where === 'project' ? {} : bodyOf(kit)) : undefined;
  return who.call(method, pathOf(path, where, kit), { headers: { 'if-match': '"none"' }, body });
}

function isPermitted(role: Role, route: string, isOwn: boolean): boolean {
  const [permission, where] = ROUTE_TABLE[route] ?? ['see', 'system'];
  // Keys of their own are the only ones that members change; see below.
  if (role === 'member' && route === 'POST /projects/{id}/keys') return isOwn;
  const { reach, permissions } = ROLE_TABLE[role] as { reach: string; permissions: readonly Permission[] };
  if (where === 'anyone' || reach === 'system') return true;
  if (where === 'system') return false;
  const needed = where === 'live' ? 'read_logs' : permission;
  return permissions.includes(needed) && (isOwn || where === 'own');
}

const isRefused = ({ status, body }: Answer) => status === 403 || (status === 404 && body.error.code === 'not_found');

describe('the table of routes', () => {
  test('has every route of the API, and no other', async () => {
    const { paths } = await (await admin.request('/v1/openapi.json')).json();
    const routes = Object.entries(paths as object).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    // Signing in takes no session.
    expect(Object.keys(ROUTE_TABLE).sort()).toEqual(routes.filter((route) => route !== 'POST /session').sort());
  });

  // Signing out would end the session.
  const routes = Object.keys(ROUTE_TABLE).filter((route) => route !== 'DELETE /session');

  test.each(routes)('%s: every role, in its own and in another team', async (route) => {
    const seen: string[] = [];
    const wanted: string[] = [];
    const allowed = new Map<Kit, number>();
    const statusForAdmin = async (kit: Kit) => {
      const status = allowed.get(kit) ?? (await ask(admin, route, kit)).status;
      allowed.set(kit, status);
      return status;
    };
    for (const [role, person] of people) {
      for (const kit of [own, other]) {
        const isOwn = kit === own;
        const answer = await ask(person, route, kit);
        // What the table permits may be missing or invalid, as for the admin token.
        const isLikeAdmin = isRefused(answer) && answer.status === (await statusForAdmin(kit));
        const outcome =
          isRefused(answer) && !isLikeAdmin ? 'refused' : answer.status >= 500 ? answer.text : 'permitted';
        const place = `${role} ${isOwn ? 'own' : 'other'}`;
        const may = isPermitted(role, route, isOwn);
        wanted.push(`${place}: ${may ? 'permitted' : 'refused'}`);
        // A refusal of what is missing for everybody is no difference.
        seen.push(`${place}: ${isLikeAdmin && !may ? 'refused' : outcome}`);
      }
    }
    expect(seen).toEqual(wanted);
  });

  test('a project moves only between teams of which one is an admin', async () => {
    const admins = people.get('team_admin') as Person;
    const move = (team_id: string | null) => admins.call('PATCH', `/projects/${own.projectId}`, { body: { team_id } });
    expect([(await move(other.teamId)).status, (await move(null)).status]).toEqual([404, 400]);
    expect((await move(own.teamId)).status).toBe(200);
    const create = (body: object) => admins.call('POST', '/projects', { body: { name: 'new', ...body } });
    expect((await create({})).body.error).toMatchObject({ code: 'invalid_request', param: 'team_id' });
    expect((await create({ team_id: other.teamId })).status).toBe(404);
    expect((await create({ team_id: own.teamId })).status).toBe(201);
  });
});
