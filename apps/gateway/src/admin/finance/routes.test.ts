// Whatever a statement is asked for, it is what the requests themselves add up to, to the nano-dollar, and what the page of
// spend shows of the same range.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { monthRange, type Stretch, sameShareBefore, shiftMonth } from '@llm0/core/finance/calendar';
import type { LogRecord } from '@llm0/core/logs/log-record';
import { formatUsdShort, parseUsd } from '@llm0/core/pricing/format-usd';
import { DEFAULT_ORGANIZATION_ID, DEFAULT_TEAM_ID } from '@llm0/drizzle/queries/access/teams';
import { dropPartitionsBefore } from '@llm0/drizzle/queries/logs/partitions';
import { deleteExpired } from '@llm0/drizzle/queries/logs/retention';
import { runs } from '@llm0/testing/lane';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { type AdminUnderTest, openAdmin, storeRecords } from '../admin.fixture';

const DAY_MS = 86_400_000;
/** In the middle of a month; in October clocks go back in Berlin, in November in Los Angeles. */
const NOW = Date.parse('2027-11-15T10:20:00Z');
const ZONES = ['UTC', 'Europe/Berlin', 'America/Los_Angeles', 'Asia/Tokyo', 'Asia/Kolkata'];
const BY = [
  'organization',
  'team',
  'cost_center',
  'project',
  'key',
  'model',
  'provider',
  'modality',
  'customer',
  'label.team',
  'label.feature',
] as const;

const GROUP_OF: Readonly<Record<string, (record: LogRecord) => string>> = {
  organization: (record) => homes.get(record.projectId)?.organization ?? '',
  team: (record) => homes.get(record.projectId)?.team ?? '',
  cost_center: (record) => homes.get(record.projectId)?.costCenter ?? '',
  project: (record) => record.projectId,
  key: (record) => record.apiKeyId,
  model: (record) => record.model,
  provider: (record) => record.finalProvider ?? '',
  modality: (record) => record.modality ?? 'text',
  customer: (record) => record.customerId ?? '',
  'label.team': (record) => record.labels?.team ?? '',
  'label.feature': (record) => record.labels?.feature ?? '',
};

/** Ids of levels by project. */
const homes = new Map<string, { readonly team: string; readonly organization: string; readonly costCenter?: string }>();

describe.each(TEST_DATABASES)('statements on $name', (kind) => {
  let admin: AdminUnderTest;
  let records: readonly LogRecord[];
  let projects: readonly { readonly id: string }[];
  let keys: readonly { readonly id: string; readonly project_id: string }[];
  let nowMs = NOW;
  beforeEach(() => {
    nowMs = NOW;
  });
  beforeAll(async () => {
    // Its audit log has months of the future.
    admin = await openAdmin({ ...kind, open: () => kind.openOwn() });
    Object.assign(admin.services.clock, { nowMs: () => nowMs });
    Object.assign(admin.services.config, { logRetentionDays: 180 });
    const organization = (await admin.call('POST', '/organizations', { body: { name: 'shops' } })).body;
    const body = { name: 'sites', organization_id: organization.id, monthly_cap_usd: 300, cost_center: '47 11' };
    const team = (await admin.call('POST', '/teams', { body })).body;
    projects = [
      await admin.createProject({ name: 'web', team_id: team.id, labels: { team: 'web' }, monthly_cap_usd: 90 }),
      await admin.createProject({ name: 'search' }),
    ];
    homes.set(projects[0]?.id ?? '', { team: team.id, organization: organization.id, costCenter: '47 11' });
    homes.set(projects[1]?.id ?? '', { team: DEFAULT_TEAM_ID, organization: DEFAULT_ORGANIZATION_ID });
    const keyOf = async (project: number, body: object) =>
      (await admin.call('POST', `/projects/${projects[project]?.id}/keys`, { body })).body;
    keys = [
      await keyOf(0, { name: 'site' }),
      await keyOf(0, { name: 'ads', labels: { team: 'ads' }, budget_usd: 1000, budget_period: 'month' }),
      await keyOf(1, { name: 'index' }),
    ];
    records = makeRecords(keys);
    await storeRecords(admin, records);
  }, 60_000);
  afterAll(() => admin.close());

  const within = ({ fromMs, toMs }: Stretch, more: (record: LogRecord) => boolean = () => true) =>
    records.filter((one) => one.createdAtMs >= fromMs && one.createdAtMs < toMs && more(one));
  const sumOf = (some: readonly LogRecord[], of: (record: LogRecord) => number) =>
    some.reduce((sum, record) => sum + of(record), 0);
  const costOf = (some: readonly LogRecord[]) => sumOf(some, ({ costNanoUsd }) => costNanoUsd);
  const ask = async (query: Readonly<Record<string, string>>) =>
    (await admin.call('GET', `/finance/statement?${new URLSearchParams(query)}`)).body;

  test('are what the requests add up to, in any zone and month, by anything, with any filter', async () => {
    const wanted = fc.record({
      zone: fc.constantFrom(...ZONES),
      month: fc.constantFrom('2027-09', '2027-10', '2027-11'),
      by: fc.constantFrom(...BY),
      filter: fc.constantFrom(
        'none',
        'organization_id',
        'team_id',
        'cost_center',
        'project_id',
        'model',
        'provider',
        'modality',
        'customer_id',
        'label.team',
      ),
    });
    const filterValue: Readonly<Record<string, string>> = {
      ...{
        organization_id: homes.get(projects[0]?.id ?? '')?.organization ?? '',
        team_id: DEFAULT_TEAM_ID,
        cost_center: '47 11',
      },
      ...{
        project_id: projects[0]?.id ?? '',
        model: 'model-1',
        provider: 'beta',
        modality: 'image',
        customer_id: 'customer-2',
      },
      'label.team': 'ads',
    };
    const groupOfFilter: Readonly<Record<string, keyof typeof GROUP_OF>> = {
      ...{
        organization_id: 'organization',
        team_id: 'team',
        cost_center: 'cost_center',
        project_id: 'project',
        model: 'model',
        provider: 'provider',
        modality: 'modality',
        customer_id: 'customer',
      },
      'label.team': 'label.team',
    };
    await fc.assert(
      fc.asyncProperty(wanted, async ({ zone, month, by, filter }) => {
        const narrowed: Readonly<Record<string, string>> =
          filter === 'none' ? {} : { [filter]: filterValue[filter] ?? '' };
        const body = await ask({ time_zone: zone, month, by, ...narrowed });
        const filterBy = GROUP_OF[groupOfFilter[filter] ?? ''];
        const matches = (record: LogRecord) => filterBy === undefined || filterBy(record) === filterValue[filter];
        const range = monthRange(zone, month);
        const isRunning = month === '2027-11';
        const before = isRunning ? sameShareBefore(zone, month, NOW) : monthRange(zone, shiftMonth(month, -1));
        const [own, earlier] = [within(range, matches), within(before, matches)];
        const groupOf = GROUP_OF[by] as (record: LogRecord) => string;
        const groups = new Map(Map.groupBy(own, groupOf));
        for (const group of Map.groupBy(earlier, groupOf).keys()) groups.set(group, groups.get(group) ?? []);
        const isRolledUp = ['none', 'organization_id', 'team_id', 'cost_center', 'project_id'].includes(filter);
        const known = by !== 'customer' || !isRolledUp;
        const expected = [...groups].map(([group, some]) => ({
          group,
          requests: sumOf(some, ({ refusedCount = 1 }) => refusedCount),
          cost: costOf(some),
          estimated: costOf(some.filter(({ costEstimated }) => costEstimated)),
          previous: costOf(earlier.filter((record) => groupOf(record) === group)),
          saved: sumOf(some, ({ savedNanoUsd }) => savedNanoUsd),
          semantic: known
            ? sumOf(some, ({ semanticCacheHit, savedNanoUsd }) => (semanticCacheHit ? savedNanoUsd : 0))
            : null,
        }));
        const nano = (usd: string | null) => (usd === null ? null : parseUsd(usd));
        const shown = body.rows.map((row: Record<string, string>) => ({
          ...{ group: row.group, requests: row.requests, cost: nano(row.cost_usd as string) },
          ...{ estimated: nano(row.estimated_usd as string), previous: nano(row.previous_usd as string) },
          ...{ saved: nano(row.saved_usd as string), semantic: nano(row.saved_semantic_usd as string | null) },
        }));
        const byGroup = (a: { group: string }, b: { group: string }) => (a.group < b.group ? -1 : 1);
        expect(shown.toSorted(byGroup)).toEqual(expected.sort(byGroup));
        expect(body.total).toMatchObject({
          cost_usd: formatUsdShort(costOf(own)),
          previous_usd: formatUsdShort(costOf(earlier)),
          change_usd: formatUsdShort(costOf(own) - costOf(earlier)),
        });
        expect([body.from, body.to]).toEqual([range.fromMs, range.toMs].map((ms) => new Date(ms).toISOString()));
      }),
      { numRuns: runs(30) },
    );
  }, 60_000);

  test.each(['UTC', 'Europe/Berlin', 'America/Los_Angeles', 'Asia/Tokyo'])(
    'show what the page of spend shows, %s',
    async (zone) => {
      const body = await ask({ time_zone: zone, month: '2027-10', by: 'project' });
      const spend = await admin.call(
        'GET',
        `/stats/spend?from=${body.from}&to=${body.to}&interval=all&group_by=project`,
      );
      const shown = (rows: readonly Record<string, unknown>[]) =>
        rows.map((row) => [row.group, row.requests, row.cost_usd, row.saved_usd]).sort();
      expect(shown(body.rows)).toEqual(shown(spend.body.buckets));
      expect(body.rows.length).toBe(2);
    },
  );

  test('name everything: zone, month, currency, filters, version, who is who', async () => {
    const body = await ask({ time_zone: 'Europe/Berlin', month: '2027-10', by: 'key', provider: 'beta' });
    expect(body).toMatchObject({
      ...{ month: '2027-10', time_zone: 'Europe/Berlin', currency: 'USD', is_final: true, by: 'key' },
      ...{ filters: { provider: 'beta' }, gateway_version: '9.9.9', attribution: null },
      compared_with: { month: '2027-09', from: '2027-08-31T22:00:00.000Z', to: '2027-09-30T22:00:00.000Z' },
    });
    const names = body.rows.map(({ name }: { name: string }) => name);
    expect(names.toSorted()).toEqual(['search / index', 'web / ads', 'web / site']);
    expect(body.rows.find(({ name }: { name: string }) => name === 'web / ads').cap_usd).toBe('1000');
  });

  test('say where the time compared with has data in part', async () => {
    const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
    const first = dayOf(Math.min(...records.map(({ createdAtMs }) => createdAtMs)));
    const month = shiftMonth(first.slice(0, 7), 1);
    const partly = await ask({ month, time_zone: 'UTC' });
    expect(partly.compared_with.data_from).toBe(`${first}T00:00:00.000Z`);
    const empty = { previous_usd: null, change_usd: null, change_percent: null, is_new: false };
    expect([partly.total, ...partly.rows].map((sums) => ({ ...sums, ...empty }))).toEqual([
      partly.total,
      ...partly.rows,
    ]);
    expect(partly.notes).toContain(
      `The first request is of ${first}, so the previous month has data only in part and is not compared.`,
    );
    expect(partly.notes.join(' ')).not.toContain('It is compared');
    const none = await ask({ month: shiftMonth(month, -1), time_zone: 'UTC' });
    expect(none.compared_with.data_from).toBe(`${first}T00:00:00.000Z`);
    expect(none.notes).toContain(`The first request is of ${first}, so there is nothing to compare with.`);
    const next = await ask({ month: shiftMonth(month, 1), time_zone: 'UTC' });
    expect(next.compared_with.data_from).toBeNull();
    expect(next.total.previous_usd).not.toBeNull();
    expect(next.notes.join(' ')).not.toContain('in part');
  });

  test('of a team say whose projects count, and hold it against its cap', async () => {
    const { rows, notes } = await ask({ by: 'team' });
    const caps = rows.map((row: Record<string, unknown>) => [row.name, row.cap_usd]).sort();
    expect(caps).toEqual([
      ['default', null],
      ['sites', '300'],
    ]);
    expect(notes.join(' ')).toContain('the team and organization that they are in now');
    const team = homes.get(projects[0]?.id ?? '')?.team ?? '';
    const other = projects[1]?.id ?? '';
    const none = await ask({ team_id: team, project_id: other });
    expect(none).toMatchObject({ rows: [], filters: { team_id: team, project_id: other }, total: { cost_usd: '0' } });
    expect(none.notes.join(' ')).toContain('There is no project in this team');
  });

  test("a project's cost center counts before its team's", async () => {
    const { rows } = await ask({ by: 'cost_center' });
    expect(rows.map((row: Record<string, unknown>) => [row.group, row.name])).toEqual([
      ['47 11', '47 11'],
      ['', 'No cost center'],
    ]);
    const path = `/projects/${projects[0]?.id}`;
    await admin.call('PATCH', path, { body: { cost_center: 'own' } });
    const groups = (await ask({ by: 'cost_center' })).rows.map(({ group }: { group: string }) => group);
    expect(groups).toEqual(['own', '']);
    expect((await ask({ cost_center: '47 11' })).rows).toEqual([]);
    expect((await admin.call('PATCH', path, { body: { cost_center: null } })).status).toBe(200);
  });

  test('a running month has a forecast with its band, and caps the day on which they are reached', async () => {
    const body = await ask({ by: 'project' });
    expect(body).toMatchObject({ month: '2027-11', is_final: false });
    const { forecast, cost_usd: cost } = body.total;
    const [low, expected, high] = [forecast.low_usd, forecast.expected_usd, forecast.high_usd].map(Number);
    expect(Number(cost)).toBeLessThan(Number(expected));
    expect([Number(low) <= Number(expected), Number(expected) <= Number(high)]).toEqual([true, true]);
    const web = body.caps.find(({ scope }: { scope: string }) => scope === 'project');
    expect(web).toMatchObject({ name: 'web', project_name: 'web', cap_usd: '90' });
    const days = monthRange('UTC', '2027-11');
    expect(web.spent_usd).toBe(formatUsdShort(costOf(within(days, ({ projectId }) => projectId === projects[0]?.id))));
    // 61 of 90 are spent, and days cost about 4.5.
    expect([web.reached_on, web.could_reach_on]).toEqual(['2027-11-22', '2027-11-21']);
    // The way to the forecast passes the cap on the same days.
    const { forecast_days: way, total } = await ask({ by: 'provider', project_id: projects[0]?.id ?? '' });
    const passes = (name: string) => way.find((day: Record<string, string>) => Number(day[name]) >= 90)?.date;
    expect([passes('expected_usd'), passes('high_usd')]).toEqual(['2027-11-22', '2027-11-21']);
    expect(way.at(-1)).toEqual({ date: '2027-11-30', ...total.forecast });
    expect(body.notes.join(' ')).toContain('same weekday');
    expect(body.notes[0]).toEndWith('the previous month up to the same moment (2027-10-15 10:20 UTC).');
    const last = await ask({ month: '2027-10' });
    expect([last.total.forecast, last.caps[0].forecast, last.forecast_days]).toEqual([null, null, []]);
  });

  test('budgets have the same forecast', async () => {
    const { caps } = await ask({ by: 'project' });
    const { data } = (await admin.call('GET', '/budgets')).body;
    expect(data.map((one: { scope: string }) => one.scope).sort()).toEqual(['key', 'project', 'team']);
    for (const { scope, forecast, reached_on, could_reach_on } of caps) {
      const budget = data.find((one: { scope: string }) => one.scope === scope);
      expect(budget).toMatchObject({ period: 'month', forecast, reached_on, could_reach_on });
    }
    const { id } = keys[2] ?? {};
    const budgetOf = async (body: object) => {
      await admin.call('PATCH', `/projects/${projects[1]?.id}/keys/${id}`, { body });
      return (await admin.call('GET', `/budgets?project_id=${projects[1]?.id}`)).body.data[0];
    };
    const none = { forecast: null, reached_on: null, could_reach_on: null };
    expect(await budgetOf({ budget_usd: 5000, budget_period: 'total' })).toMatchObject({ period: 'total', ...none });
    await budgetOf({ budget_usd: null });
  });

  test('a past month is held against the limits of that month, those of what is deleted since included', async () => {
    const [project, key] = [projects[0]?.id ?? '', keys[1]?.id ?? ''];
    const note = (createdAt: string, resource: string, id: string, change: object) =>
      admin.services.db.execute(sql`insert into admin_audit (created_at, actor, action, resource, resource_id, before)
        values (${createdAt}::timestamptz, 'a', ${'update'}, ${resource}, ${id}, ${JSON.stringify(change)}::jsonb)`);
    await note('2027-10-20T00:00:00Z', 'project', project, { monthly_cap_usd: 10 });
    await note('2027-11-02T00:00:00Z', 'project', project, { monthly_cap_usd: 20 });
    await note('2027-11-03T00:00:00Z', 'project', project, { monthly_cap_usd: 30 });
    await note('2027-11-03T00:00:00Z', 'key', key, { budget_usd: 700, budget_period: 'total' });
    await note('2027-11-03T00:00:00Z', 'customer_limits', `${project}/gone/1`, { monthly_spend_limit_usd: 4 });
    const capsIn = async (month: string) => {
      const { caps, rows } = await ask({ month, project_id: project });
      const named = caps.map((cap: { name: string; cap_usd: string }) => [cap.name, Number(cap.cap_usd)]).sort();
      return { named, row: Number(rows[0].cap_usd) };
    };
    const gone = ['gone/1', 4];
    expect(await capsIn('2027-10')).toEqual({ named: [gone, ['web', 20]], row: 20 });
    expect(await capsIn('2027-09')).toEqual({ named: [gone, ['web', 10]], row: 10 });
    expect((await capsIn('2027-11')).row).toBe(90);
  });

  test('a total is forecast alike however it is split, and each row has a forecast of its own', async () => {
    const expected: string[] = [];
    for (const by of BY) {
      const { total, rows } = await ask({ by, time_zone: 'Europe/Berlin' });
      expected.push(total.forecast.expected_usd);
      for (const row of rows.filter((one: { cost_usd: string }) => Number(one.cost_usd) > 0)) {
        expect([by, row.group, Number(row.forecast.expected_usd) > Number(row.cost_usd)]).toEqual([
          by,
          row.group,
          true,
        ]);
      }
    }
    expect([...new Set(expected)]).toEqual([expected[0] ?? '']);
  });

  test('a file has a line for each row and the total, which understand themselves and add up', async () => {
    const query = 'time_zone=Asia/Tokyo&month=2027-10&by=label.team&model=model-1';
    const answer = await admin.call('GET', `/finance/statement.csv?${query}`);
    expect(answer.headers.get('content-type')).toContain('text/csv');
    expect(answer.headers.get('content-disposition')).toBe(
      'attachment; filename="statement-2027-10-by-label-team.csv"',
    );
    const [head = '', ...lines] = answer.text.trimEnd().split('\r\n');
    const columns = head.split(',');
    const cell = (line: string, name: string) => line.split(',')[columns.indexOf(name)] ?? '';
    const total = lines.at(-1) ?? '';
    expect(lines.map((line) => cell(line, 'kind'))).toEqual([...lines.slice(1).map(() => 'row'), 'total']);
    for (const line of lines) {
      expect(['month', 'time_zone', 'currency', 'filters', 'by'].map((name) => cell(line, name))).toEqual([
        ...['2027-10', 'Asia/Tokyo', 'USD', 'model=model-1', 'label.team'],
      ]);
      expect(cell(line, 'cost_usd')).toMatch(/^\d+\.\d{9}$/);
    }
    const nano = (line: string) => parseUsd(cell(line, 'cost_usd')) ?? Number.NaN;
    expect(lines.slice(0, -1).reduce((sum, line) => sum + nano(line), 0)).toBe(nano(total));
    const own = within(monthRange('Asia/Tokyo', '2027-10'), ({ model }) => model === 'model-1');
    expect(nano(total)).toBe(costOf(own));
  });

  test('labels are known by their names', async () => {
    expect((await admin.call('GET', '/finance/labels')).body.data).toEqual(['feature', 'team']);
  });

  test.each([
    ['month=2027-13', 'month'],
    ['month=2028-01', 'month'],
    ['time_zone=Mars/Olympus', 'time_zone'],
    ['by=weather', 'by'],
    ['project_id=x', 'project_id'],
    ['team=x', 'team'],
  ])('%s is refused, naming the field', async (query, param) => {
    const answer = await admin.call('GET', `/finance/statement?${query}`);
    expect([answer.status, answer.body.error.param]).toEqual([400, param]);
  });

  test('years later months are as exact in every zone of whole hours; labels are those of now, and it says so', async () => {
    const before = await ask({ time_zone: 'Europe/Berlin', month: '2027-10', by: 'model' });
    nowMs = Date.parse('2029-06-15T00:00:00Z');
    const byModality = await ask({ time_zone: 'Europe/Berlin', month: '2027-10', by: 'modality' });
    await deleteExpired(admin.database.db, 'rollup_hour', nowMs - 90 * DAY_MS);
    await deleteExpired(admin.database.db, 'rollup_modality_hour', nowMs - 90 * DAY_MS);
    await dropPartitionsBefore(admin.database.db, nowMs - 90 * DAY_MS);
    for (const zone of ['Europe/Berlin', 'America/Los_Angeles', 'Asia/Tokyo']) {
      const after = await ask({ time_zone: zone, month: '2027-10', by: 'model' });
      const own = within(monthRange(zone, '2027-10'));
      expect([zone, after.total.cost_usd]).toEqual([zone, formatUsdShort(costOf(own))]);
      expect(after.total.estimated_usd).toBeNull();
      expect(after.notes.join(' ')).not.toContain('whole one');
      if (zone === 'Europe/Berlin') {
        const money = (rows: readonly Record<string, unknown>[]) => rows.map((row) => [row.group, row.cost_usd]);
        expect(money(after.rows)).toEqual(money(before.rows));
        const split = await ask({ time_zone: zone, month: '2027-10', by: 'modality' });
        expect(money(split.rows)).toEqual(money(byModality.rows));
        expect(split.rows.map(({ name }: { name: string }) => name).toSorted()).toEqual(['batch', 'image', 'text']);
      }
    }
    const india = await ask({ time_zone: 'Asia/Kolkata', month: '2027-10', by: 'model' });
    expect(india.notes.join(' ')).toContain('no longer stored');
    const byTeam = await ask({ month: '2027-10', by: 'label.team' });
    expect(byTeam.attribution).toBe('current');
    const team = (key: string) => (key === keys[1]?.id ? 'ads' : key === keys[0]?.id ? 'web' : '');
    for (const { group, cost_usd: cost } of byTeam.rows) {
      const own = within(monthRange('UTC', '2027-10'), ({ apiKeyId }) => team(apiKeyId) === group);
      expect([group, cost]).toEqual([group, formatUsdShort(costOf(own))]);
    }
    const refused = await admin.call('GET', '/finance/statement?month=2027-10&label.team=ads');
    expect([refused.status, refused.body.error.param]).toEqual([400, 'month']);
    const customers = await ask({ time_zone: 'Europe/Berlin', month: '2027-10', by: 'customer' });
    expect(customers.notes.join(' ')).toContain('counted as a whole UTC day');
  }, 60_000);
});

/** Some of every hour of three months and a half, and at the very bounds of months in each zone. */
function makeRecords(keys: readonly { readonly id: string; readonly project_id: string }[]): readonly LogRecord[] {
  const spread = Array.from({ length: 900 }, (_, index) => NOW - 1 - index * 10_368_007);
  const bounds = ZONES.flatMap((zone) =>
    ['2027-09', '2027-10', '2027-11'].flatMap((month) => [
      monthRange(zone, month).fromMs - 1,
      monthRange(zone, month).fromMs,
    ]),
  );
  return [...spread, ...bounds].map((createdAtMs, index): LogRecord => {
    const isHit = index % 6 === 0;
    const key = keys[index % keys.length];
    const own = ['web', 'ads', undefined][index % keys.length];
    const feature: Record<string, string> = index % 4 === 0 ? { feature: `f${index % 3}` } : {};
    const labels = own === undefined ? feature : { ...feature, team: own };
    return sampleRecord({
      createdAtMs,
      projectId: key?.project_id,
      apiKeyId: key?.id,
      model: `model-${index % 4}`,
      ...(index % 7 === 0 && { modality: index % 2 === 0 ? 'image' : 'batch' }),
      finalProvider: index % 5 === 0 ? 'beta' : 'alpha',
      customerId: index % 3 === 0 ? undefined : `customer-${index % 7}`,
      labels: Object.keys(labels).length === 0 ? undefined : labels,
      costNanoUsd: isHit ? 0 : 1_000_000_007 + index * index * 13,
      costEstimated: !isHit && index % 17 === 0,
      savedNanoUsd: isHit ? 500 + index : 0,
      cacheHit: isHit,
      semanticCacheHit: index % 12 === 0,
    });
  });
}
