import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { sql } from 'drizzle-orm';
import { type AdminUnderTest, openAdmin } from '../admin.fixture';
import { makeKit } from './people.fixture';

const MOST_MS = 300;
const TRIES = 3;

describe.each(TEST_DATABASES)('10,000 users, 500 teams and 50,000 keys, on $name', (kind) => {
  let admin: AdminUnderTest;
  let ids: { readonly teamId: string; readonly projectId: string };
  beforeAll(async () => {
    admin = await openAdmin({ ...kind, open: () => kind.openOwn() });
    const { teamId } = await makeKit(admin, Date.now());
    ids = { teamId, projectId: await fill(admin, teamId) };
  }, 120_000);
  afterAll(() => admin.close());

  const rowsOf = async (path: string): Promise<number> => {
    const { status, body } = await admin.call('GET', path);
    expect([path, status]).toEqual([path, 200]);
    return body.data.length;
  };

  test.each([
    ['/users?limit=200', 200],
    ['/users?q=person%209999', 1],
    ['/users?q=%40example.com&limit=200', 200],
    ['/teams?limit=200', 200],
    ['/teams?q=team%20499', 1],
    ['/teams/:team/members', 1_000],
    ['/projects?limit=200', 200],
    ['/projects/:project/keys?limit=200', 200],
    ['/keys?q=key%2049999', 1],
    ['/keys?limit=200', 200],
    ['/budgets?limit=200', 200],
    ['/organizations?limit=200', 2],
  ])('%s', async (path, least) => {
    const at = path.replace(':team', ids.teamId).replace(':project', ids.projectId);
    let best = Number.POSITIVE_INFINITY;
    for (let tries = 0; tries < TRIES; tries++) {
      const startMs = performance.now();
      expect(await rowsOf(at)).toBeGreaterThanOrEqual(least);
      best = Math.min(best, performance.now() - startMs);
    }
    if (process.env.SHOW) console.log(path, best.toFixed(0));
    expect(best).toBeLessThan(MOST_MS);
  });
});

/** Half of the keys belong to one project, whose id it returns. A tenth of the users are members of one team. */
async function fill({ database: { db } }: AdminUnderTest, teamId: string): Promise<string> {
  await db.execute(sql`insert into users (name, email, daily_budget_usd)
    select 'person ' || n, 'p' || n || '@example.com', 5 from generate_series(1, 10000) n`);
  await db.execute(sql`insert into teams (organization_id, name, monthly_cap_usd)
    select organization_id, 'team ' || n, 500 from generate_series(1, 499) n, teams where id = ${teamId}::uuid`);
  await db.execute(sql`insert into team_members (team_id, user_id, role)
    select ${teamId}::uuid, id, 'member' from users where name like 'person %0'`);
  await db.execute(sql`insert into projects (name, team_id)
    select 'project ' || n, (select id from teams where name = 'team ' || (n % 499 + 1))
    from generate_series(1, 1000) n`);
  await db.execute(sql`insert into api_keys (project_id, name, key_hash, key_prefix, user_id)
    select p.id, 'key ' || n, encode(sha256(convert_to(n::text, 'UTF8')), 'hex'), 'llm0_live_', u.id
    from generate_series(1, 50000) n
    join projects p on p.name = case when n % 2 = 0 then 'project 1' else 'project ' || (n / 2 % 1000 + 1) end
    join users u on u.name = 'person ' || (n % 10000 + 1)`);
  await db.execute(sql`analyze`);
  const [found] = await db.execute<{ id: string }>(sql`select id from projects where name = 'project 1'`);
  return found?.id ?? '';
}
