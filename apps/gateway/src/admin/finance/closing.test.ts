// A closed month is one file for good: whatever happens to its requests, projects, names and prices later.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { monthRange, shiftMonth } from '@llm0/core/finance/calendar';
import type { LogRecord } from '@llm0/core/logs/log-record';
import { formatUsdShort, parseUsd } from '@llm0/core/pricing/format-usd';
import { createPriceBook } from '@llm0/core/pricing/price-book';
import { createRoutingTables } from '@llm0/core/routing/routing-tables';
import { runs } from '@llm0/testing/lane';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { type AdminUnderTest, openAdmin, storeRecords } from '../admin.fixture';
import { give, makePerson, type Person } from '../teams/people.fixture';
import { FACT_GROUPS } from './facts';

const ZONE = 'Europe/Berlin';
const DAY_MS = 86_400_000;
/** As far back as corrections are looked for. */
const MONTHS = ['2027-10', '2027-11', '2027-12'] as const;

const pricesOf = (input: number) =>
  createPriceBook(
    [
      {
        ...{ provider: 'alpha', model: 'model-0', mode: 'chat', capabilities: [] },
        prices: { input, output: input, cache_read: input / 10, cache_write: input },
      },
    ],
    new Set(),
  );

describe.each(TEST_DATABASES)('closed months on $name', (kind) => {
  let admin: AdminUnderTest;
  let nowMs: number;
  beforeAll(async () => {
    admin = await openAdmin({ ...kind, open: () => kind.openOwn() });
    Object.assign(admin.services.clock, { nowMs: () => nowMs });
    Object.assign(admin.services.config, { logRetentionDays: 400 });
    price(3_000_000);
  }, 60_000);
  afterAll(() => admin.close());

  const price = (input: number) => {
    const tables = createRoutingTables({ providers: new Map(), prices: pricesOf(input) });
    Object.assign(admin.services, { routing: () => tables });
  };
  const make = async (path: string, body: object) => {
    const answer = await admin.call('POST', path, { body });
    if (answer.status !== 201) throw new Error(answer.text);
    return answer.body;
  };
  const change = async (path: string, body: object) => {
    const answer = await admin.call('PATCH', path, { body });
    if (answer.status !== 200) throw new Error(answer.text);
  };
  const close = (month: string, more: object = {}) =>
    admin.call('POST', '/finance/statement/close', { body: { month, time_zone: ZONE, ...more } });

  /** An organization with two teams, a project in the first of them, and two keys. */
  async function makeShop() {
    const { id: organization } = await make('/organizations', { name: crypto.randomUUID() });
    const teamOf = async (name: string) =>
      (await make('/teams', { name, organization_id: organization, cost_center: `cc ${name}` })).id as string;
    const [first, second] = [await teamOf('first'), await teamOf('second')];
    const { id: project } = await make('/projects', { name: 'web', team_id: first, monthly_cap_usd: 50 });
    const keys = [
      await make(`/projects/${project}/keys`, { name: 'site', budget_usd: 20, budget_period: 'month' }),
      await make(`/projects/${project}/keys`, { name: 'ads' }),
    ].map(({ id }): string => id);
    const record = (createdAtMs: number, given: Partial<LogRecord> = {}) =>
      sampleRecord({ createdAtMs, projectId: project, apiKeyId: keys[0], tokensCacheRead: 1000, ...given });
    return { organization, first, second, project, keys, record };
  }
  type Shop = Awaited<ReturnType<typeof makeShop>>;

  const inMonth = (month: string, share = 0.5) => {
    const { fromMs, toMs } = monthRange(ZONE, month);
    return Math.floor(fromMs + (toMs - fromMs) * share);
  };
  /** Some of each of two months, at their very edges too. */
  const fill = (shop: Shop) =>
    storeRecords(
      admin,
      ['2027-09', '2027-10'].flatMap((month, at) =>
        [0, 0.3, 0.999999].map((share, index) =>
          shop.record(inMonth(month, share), {
            ...{
              apiKeyId: shop.keys[index % 2],
              model: `model-${index}`,
              costNanoUsd: 1_000_000_007 * (index + 1 + at),
            },
            ...{ costEstimated: index === 1, customerId: `customer-${index}` },
          }),
        ),
      ),
    );

  const queries = (shop: Shop, month: string): readonly URLSearchParams[] => {
    const base = { month, time_zone: ZONE, organization_id: shop.organization as string };
    const asked: readonly Readonly<Record<string, string>>[] = [
      ...FACT_GROUPS.map((by) => ({ ...base, by })),
      { ...base, by: 'model', team_id: shop.first },
      { ...base, by: 'key', api_key_id: shop.keys[1] ?? '' },
      { ...base, by: 'team', cost_center: 'cc first', provider: 'alpha' },
      { month, time_zone: ZONE, by: 'team', project_id: shop.project },
    ];
    return asked.map((query) => new URLSearchParams(query));
  };
  const filesOf = async (shop: Shop, month: string) => {
    const paths = queries(shop, month).flatMap((query) => [
      `/finance/statement?${query}`,
      `/finance/statement.csv?${query}`,
    ]);
    paths.push(`/finance/focus.csv?${new URLSearchParams({ month, time_zone: ZONE, team_id: shop.first })}`);
    const answers: string[] = [];
    for (const path of paths) answers.push((await admin.call('GET', path)).text);
    return answers;
  };
  const statement = async (shop: Shop, month: string, by = 'team') => {
    const query = { month, time_zone: ZONE, by, organization_id: shop.organization };
    return (await admin.call('GET', `/finance/statement?${new URLSearchParams(query)}`)).body;
  };
  const focusRows = async (query: Readonly<Record<string, string>>) => {
    const { text } = await admin.call(
      'GET',
      `/finance/focus.csv?${new URLSearchParams({ time_zone: ZONE, ...query })}`,
    );
    const [head = [], ...lines] = parseCsv(text);
    return lines.map(
      (cells): Partial<Record<string, string>> => Object.fromEntries(head.map((name, at) => [name, cells[at] ?? ''])),
    );
  };
  const nanoOf = (usd: string) => parseUsd(usd) ?? Number.NaN;

  test('never change: not by late rows, corrections, moves, names, prices, caps, cost centers or a deletion', async () => {
    nowMs = inMonth('2027-11');
    const shop = await makeShop();
    await fill(shop);
    const lost = shop.record(inMonth('2027-10', 0.7), { status: 'error', costNanoUsd: 900, costEstimated: true });
    await storeRecords(admin, [lost]);
    const before = await statement(shop, '2027-10');
    expect(before).toMatchObject({ closed_at: null, closed_by: null });
    const closing = await close('2027-10', { organization_id: shop.organization });
    expect([closing.status, closing.body]).toMatchObject([
      201,
      { month: '2027-10', time_zone: ZONE, organization_id: shop.organization, projects: 1, closed_by: 'ADMIN_TOKEN' },
    ]);
    expect(closing.body.cost_usd).toBe(before.total.cost_usd);
    const after = await statement(shop, '2027-10');
    expect([after.rows, after.total, after.caps]).toEqual([before.rows, before.total, before.caps]);
    expect(after.caps.map(({ scope }: { scope: string }) => scope).sort()).toEqual(['key', 'project']);
    expect(after.closed_at).toBe(closing.body.created_at);
    const kept = await filesOf(shop, '2027-10');

    await storeRecords(admin, [
      shop.record(inMonth('2027-10', 0.1), { costNanoUsd: 5, model: 'late', apiKeyId: shop.keys[1] }),
      { ...lost, status: 'success', costNanoUsd: 400, costEstimated: false, corrects: true },
      shop.record(inMonth('2027-09', 0.1), { costNanoUsd: 7 }),
    ]);
    await change(`/projects/${shop.project}`, { team_id: shop.second, name: 'moved', monthly_cap_usd: 1 });
    await change(`/teams/${shop.first}`, { name: 'renamed', cost_center: 'other' });
    await change(`/organizations/${shop.organization}`, { name: crypto.randomUUID() });
    await change(`/projects/${shop.project}/keys/${shop.keys[0]}`, { name: 'renamed', budget_usd: 1 });
    price(9_000_000);
    Object.assign(admin.services, { version: '10.0.0' });
    expect(await filesOf(shop, '2027-10')).toEqual(kept);
    nowMs += 300 * DAY_MS;
    await admin.call('DELETE', `/projects/${shop.project}`);
    expect(await filesOf(shop, '2027-10')).toEqual(kept);
    price(3_000_000);
  }, 60_000);

  test('what came later is a correction of the next open month, for the team that has the project now', async () => {
    nowMs = inMonth('2027-11');
    const shop = await makeShop();
    await fill(shop);
    const lost = shop.record(inMonth('2027-10', 0.7), { status: 'error', costNanoUsd: 900, costEstimated: true });
    await storeRecords(admin, [lost, shop.record(inMonth('2027-11', 0.2), { costNanoUsd: 100 })]);
    await close('2027-10', { organization_id: shop.organization });
    expect((await statement(shop, '2027-11')).total).toMatchObject({ cost_usd: '0.0000001', corrections_usd: '0' });
    await change(`/projects/${shop.project}`, { team_id: shop.second });
    await storeRecords(admin, [
      { ...lost, status: 'success', costNanoUsd: 400, costEstimated: false, corrects: true },
      shop.record(inMonth('2027-10', 0), { costNanoUsd: 20, cacheHit: true, savedNanoUsd: 3 }),
    ]);
    for (const by of FACT_GROUPS) {
      const { total, rows, notes } = await statement(shop, '2027-11', by);
      expect([by, nanoOf(total.cost_usd), nanoOf(total.corrections_usd)]).toEqual([by, -380, -480]);
      expect([by, nanoOf(total.saved_usd), nanoOf(total.estimated_usd)]).toEqual([by, 3, -900]);
      expect(rows.reduce((sum: number, row: { cost_usd: string }) => sum + nanoOf(row.cost_usd), 0)).toBe(-380);
      expect(notes.join(' ')).toContain('corrections of closed months (2027-10): -0.000000480 USD');
    }
    const focus = await focusRows({ month: '2027-11', organization_id: shop.organization });
    expect(focus.reduce((sum, row) => sum + nanoOf(row.BilledCost ?? ''), 0)).toBe(-380);
    const corrections = focus.filter(({ ChargeClass }) => ChargeClass === 'Correction');
    expect(
      corrections.map(({ ChargePeriodStart, BillingPeriodStart }) => [ChargePeriodStart, BillingPeriodStart]),
    ).toEqual([
      ['2027-09-30T22:00:00Z', '2027-10-31T23:00:00Z'],
      ['2027-09-30T22:00:00Z', '2027-10-31T23:00:00Z'],
    ]);
    const { rows } = await statement(shop, '2027-11');
    expect(rows.map((row: Record<string, unknown>) => [row.name, row.cost_usd])).toContainEqual([
      'second',
      '-0.00000038',
    ]);
    // Closed with it, it isn't one of the month after.
    nowMs = inMonth('2027-12');
    const closing = await close('2027-11', { organization_id: shop.organization });
    expect(closing.body).toMatchObject({ cost_usd: '-0.00000038', corrections_usd: '-0.00000048' });
    const december = await statement(shop, '2027-12');
    expect([december.total.cost_usd, december.total.corrections_usd]).toEqual(['0', '0']);
    expect((await statement(shop, '2027-11')).total).toMatchObject({ corrections_usd: '-0.00000048' });
  }, 60_000);

  test('a month closed without modalities is corrected without them, and names what it lacks', async () => {
    nowMs = inMonth('2027-11');
    const shop = await makeShop();
    await fill(shop);
    await storeRecords(admin, [shop.record(inMonth('2027-10', 0.4), { modality: 'image', costNanoUsd: 50 })]);
    await close('2027-10', { organization_id: shop.organization });
    const namesIn = async (month: string) =>
      (await statement(shop, month, 'modality')).rows.map(({ name }: { name: string }) => name);
    expect(await namesIn('2027-10')).toEqual(['text', 'image']);
    await admin.services.db.execute(
      sql`update closed_amounts set modality = null where project_id = ${shop.project}::uuid`,
    );
    expect(await namesIn('2027-10')).toContain('Not recorded');
    expect((await statement(shop, '2027-11')).total).toMatchObject({ cost_usd: '0', corrections_usd: '0' });
    await storeRecords(admin, [shop.record(inMonth('2027-10', 0.6), { modality: 'image', costNanoUsd: 9 })]);
    expect((await statement(shop, '2027-11', 'modality')).total.corrections_usd).toBe('0.000000009');
  }, 60_000);

  test('law: whatever happens in any order, all statements together are the ledger, and closed ones never change', async () => {
    const month = fc.nat(MONTHS.length - 1);
    const event = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({
          kind: fc.constant('row' as const),
          month,
          share: fc.double({ min: 0, max: 0.9999, noNaN: true }),
          cost: fc.nat(1_000_000),
          key: fc.nat(1),
        }),
      },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('close' as const), month, team: fc.nat(2) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('move' as const), team: fc.nat(1) }) },
    );
    const asked = fc.array(event, { minLength: 4, maxLength: 14 });
    await fc.assert(
      fc.asyncProperty(asked, async (events) => {
        // After December's end, so that every month may close.
        nowMs = inMonth('2028-01', 0.4);
        const shop = await makeShop();
        let ledger = 0;
        const closed = new Map<string, string>();
        const openTotals = async () => Promise.all([...MONTHS, '2028-01'].map((one) => statement(shop, one)));
        for (const one of events) {
          if (one.kind === 'row') {
            const record = shop.record(inMonth(MONTHS[one.month] ?? '', one.share), {
              costNanoUsd: one.cost,
              apiKeyId: shop.keys[one.key],
            });
            await storeRecords(admin, [record]);
            ledger += one.cost;
          } else if (one.kind === 'move') {
            await change(`/projects/${shop.project}`, { team_id: [shop.first, shop.second][one.team] });
          } else {
            const scopes = [{ team_id: shop.first }, { team_id: shop.second }, { organization_id: shop.organization }];
            const name = MONTHS[one.month] ?? '';
            const { status } = await close(name, scopes[one.team]);
            expect([201, 409]).toContain(status);
            if (status === 201) closed.set(name, (await statement(shop, name)).total.cost_usd);
          }
        }
        const totals = await openTotals();
        expect(totals.reduce((sum, { total }) => sum + nanoOf(total.cost_usd), 0)).toBe(ledger);
        for (const { month: name, total } of totals) {
          const kept = closed.get(name);
          if (kept !== undefined) expect([name, total.cost_usd]).toEqual([name, kept]);
        }
      }),
      { numRuns: runs(15) },
    );
  }, 120_000);

  test('FOCUS: rows of a team, organization or cost center, tagged, that add up to the statement', async () => {
    nowMs = inMonth('2027-11');
    const shop = await makeShop();
    await fill(shop);
    const { total } = await statement(shop, '2027-10');
    const filters: readonly Readonly<Record<string, string>>[] = [
      ...[{ organization_id: shop.organization }, { team_id: shop.first }, { project_id: shop.project }],
    ];
    for (const filter of filters) {
      const rows = await focusRows({ month: '2027-10', ...filter });
      const sum = rows.reduce((all, row) => all + nanoOf(row.EffectiveCost ?? ''), 0);
      expect([filter, sum]).toEqual([filter, nanoOf(total.cost_usd)]);
      for (const row of rows) {
        expect(row).toMatchObject({
          ...{
            BillingAccountId: shop.organization,
            SubAccountId: shop.project,
            BillingCurrency: 'USD',
            ChargeClass: '',
          },
          ...{ ChargeCategory: 'Usage', ProviderName: 'alpha', ServiceProviderName: 'alpha' },
          ...{ BillingPeriodStart: '2027-09-30T22:00:00Z', BillingPeriodEnd: '2027-10-31T23:00:00Z' },
        });
        expect(JSON.parse(row.Tags ?? '')).toMatchObject({
          ...{ 'llm0/team_id': shop.first, 'llm0/organization_id': shop.organization, 'llm0/cost_center': 'cc first' },
        });
      }
    }
    const paid = await focusRows({ month: '2027-10', cost_center: 'cc first', organization_id: shop.organization });
    expect(paid.length).toBe(3);
    expect(await focusRows({ month: '2027-10', team_id: shop.second })).toEqual([]);
    const unsent = { model: 'unsent', provider: undefined, finalProvider: undefined, costNanoUsd: 0 } as const;
    await storeRecords(admin, [shop.record(inMonth('2027-10'), { ...unsent, status: 'rate_limited' })]);
    const all = await focusRows({ month: '2027-10', project_id: shop.project });
    expect(all.find(({ ProviderName }) => ProviderName === 'none')).toMatchObject({
      ...{ SkuId: 'unsent', ChargeDescription: '1 request to unsent' },
    });
    const refused = await admin.call('GET', '/finance/focus.csv?customer_id=x');
    expect([refused.status, refused.body.error.param]).toEqual([400, 'customer_id']);
  });

  test('by customer and label they count requests as they are now, and say so', async () => {
    nowMs = inMonth('2027-11');
    const shop = await makeShop();
    await fill(shop);
    await close('2027-10', { organization_id: shop.organization });
    const known = await statement(shop, '2027-10');
    for (const by of ['customer', 'label.app']) {
      const { closed_at, total, notes } = await statement(shop, '2027-10', by);
      expect([by, closed_at, total.cost_usd]).toEqual([by, null, known.total.cost_usd]);
      expect(notes.join(' ')).toContain('not part of the close');
    }
    const elsewhere = `month=2027-10&time_zone=UTC&organization_id=${shop.organization}`;
    const utc = (await admin.call('GET', `/finance/statement?${elsewhere}`)).body;
    expect([utc.closed_at, utc.notes.join(' ')]).toEqual([null, expect.stringContaining(`closed in ${ZONE}`)]);
  });

  test('close once, after the end, in one zone', async () => {
    nowMs = inMonth('2027-11');
    const shop = await makeShop();
    const team = { team_id: shop.first };
    const shown = ({ status, body }: Awaited<ReturnType<typeof close>>) => [status, body.error?.param];
    expect(shown(await close('2027-11', team))).toEqual([400, 'month']);
    nowMs = monthRange(ZONE, '2027-11').toMs;
    // An hour later it ends in UTC, too, whose caps it has.
    expect(shown(await close('2027-11', team))).toEqual([400, 'month']);
    nowMs = inMonth('2027-12');
    expect(shown(await close('2027-11', team))).toEqual([201, undefined]);
    expect(shown(await close('2027-11', team))).toEqual([409, 'month']);
    expect(shown(await close('2027-11', { organization_id: shop.organization }))).toEqual([409, 'month']);
    expect(shown(await close('2027-10', { ...team, time_zone: 'UTC' }))).toEqual([409, 'time_zone']);
    expect(shown(await close('2027-1', team))).toEqual([400, 'month']);
    expect(shown(await close('2027-10', { ...team, organization_id: shop.organization }))).toEqual([400, 'team_id']);
    const [first, second] = await Promise.all([close('2027-10', team), close('2027-10', team)]);
    expect([first.status, second.status].sort()).toEqual([201, 409]);
    const { data } = (await admin.call('GET', '/audit?resource=closing&action=create')).body;
    expect(data[0]).toMatchObject({ actor: 'ADMIN_TOKEN', after: { month: '2027-10', team_id: shop.first } });
  });

  test('by the right people; a team sees the month as its own, wherever the project is now', async () => {
    nowMs = inMonth('2027-11');
    const shop = await makeShop();
    await fill(shop);
    const person = async (team: string, role: Parameters<typeof give>[3]) => {
      const made = await makePerson(admin);
      await give(admin, team, made.id, role);
      return made;
    };
    const tries = async (one: Person, body: object) =>
      (await one.call('POST', '/finance/statement/close', { body: { month: '2027-10', time_zone: ZONE, ...body } }))
        .status;
    const biller = await person(shop.first, 'billing');
    const other = await person(shop.second, 'billing');
    for (const role of ['team_admin', 'member', 'viewer', 'auditor'] as const)
      expect([role, await tries(await person(shop.first, role), { team_id: shop.first })]).toEqual([role, 403]);
    expect(await tries(biller, {})).toBe(403);
    expect(await tries(biller, { organization_id: shop.organization })).toBe(404);
    expect(await tries(other, { team_id: shop.first })).toBe(404);
    const ask = async (one: Person, month = '2027-10') =>
      (await one.call('GET', `/finance/statement?month=${month}&time_zone=${ZONE}`)).body;
    const open = await ask(biller);
    expect(await tries(biller, { team_id: shop.first })).toBe(201);
    await change(`/projects/${shop.project}`, { team_id: shop.second });
    expect(await ask(biller)).toMatchObject({ rows: open.rows, total: open.total });
    expect(await ask(other)).toMatchObject({ rows: [], total: { cost_usd: '0' } });
    expect((await ask(other, '2027-09')).rows.length).toBe(1);
    const listed = async (one: Person) => (await one.call('GET', '/finance/closings')).body.data.length;
    const boss = await person(shop.second, 'org_admin');
    expect([await listed(biller), await listed(other), await listed(boss)]).toEqual([1, 0, 1]);
    expect(await tries(boss, { organization_id: shop.organization })).toBe(409);
    const month = shiftMonth('2027-10', -1);
    expect(await tries(boss, { organization_id: shop.organization, month })).toBe(201);
    expect((await ask(boss)).total.cost_usd).toBe(formatUsdShort(nanoOf(open.total.cost_usd)));
  }, 60_000);
});

/** Cells of a file whose quoted cells have no line breaks. */
const parseCsv = (text: string): string[][] =>
  text
    .trimEnd()
    .split('\r\n')
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,"]*))/g)].map(
        ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
      ),
    );
