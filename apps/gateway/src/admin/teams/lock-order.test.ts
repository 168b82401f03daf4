// Changes of a project, its team and its organization at once: each ends, and none waits for another in a circle.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, openAdmin } from '../admin.fixture';
import { type Kit, makeKit } from './people.fixture';

describe.each(ON_ONE_DATABASE)('changes at once on $name', (kind) => {
  let admin: AdminUnderTest;
  let kits: readonly Kit[];
  beforeAll(async () => {
    admin = await openAdmin(kind);
    kits = [await makeKit(admin, Date.now()), await makeKit(admin, Date.now())];
    for (const { organizationId, teamId } of kits) {
      for (const path of [`/organizations/${organizationId}`, `/teams/${teamId}`])
        await admin.call('PATCH', path, { body: { monthly_cap_usd: 1000 } });
    }
  }, 60_000);
  afterAll(() => admin.close());

  test('a project moves while its organizations and teams change', async () => {
    for (let turn = 1; turn <= 15; turn++) {
      const moves = kits.map(({ projectId }, n) =>
        admin.call('PATCH', `/projects/${projectId}`, { body: { team_id: kits[(n + turn) % 2]?.teamId } }),
      );
      const body = { daily_budget_usd: turn };
      const levels = kits.flatMap(({ organizationId, teamId }) => [
        admin.call('PATCH', `/organizations/${organizationId}`, { body }),
        admin.call('PATCH', `/teams/${teamId}`, { body }),
      ]);
      const answers = await Promise.all([...moves, ...levels]);
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    }
  }, 60_000);
});
