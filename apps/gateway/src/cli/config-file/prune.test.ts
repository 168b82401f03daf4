import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { type ImportUnderTest, openImport } from '../litellm/import.fixture';

const NAMES = ['a', 'b', 'c'] as const;
type Name = (typeof NAMES)[number];
type Owner = 'ours' | 'others';

interface Event {
  readonly what: 'apply' | 'made by others' | 'deleted by others' | 'key by others';
  readonly names: readonly Name[];
}

const event: fc.Arbitrary<Event> = fc.record({
  what: fc.constantFrom('apply', 'apply', 'made by others', 'deleted by others', 'key by others'),
  names: fc.subarray([...NAMES]),
});

describe('llm0 apply --prune', () => {
  let gateway: ImportUnderTest;
  beforeAll(async () => {
    gateway = await openImport();
  }, 60_000);
  afterAll(() => gateway.close());

  const secrets = new Map<string, string>();
  const apply = async (apply: string, names: readonly string[], ...more: readonly string[]) => {
    const path = join(gateway.folder, `${apply}.yaml`);
    await Bun.write(path, JSON.stringify({ version: 1, projects: names.map((name) => ({ name })) }));
    const told = await gateway.command(['apply', '-f', path, '--name', apply, ...more]);
    if (told.code !== 0) throw new Error(told.err);
    return told.err;
  };
  const post = (path: string, body: object) => gateway.call(path, { method: 'POST', body: JSON.stringify(body) });
  /** Ids of the run's projects by name. */
  const projectsOf = async (run: string) => {
    const { data } = await gateway.read('/projects?limit=1000');
    const own = data.map((one) => [String(one.name), String(one.id)] as const).filter(([name]) => name.startsWith(run));
    return new Map(own.map(([name, id]) => [name.slice(run.length), id]));
  };

  test('deletes what an earlier apply of the name created, and nothing of others', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 2, maxLength: 6 }), async (events) => {
        const run = `prune-${crypto.randomUUID()}-`;
        const expected = new Map<string, { owner: Owner; isUsed: boolean }>();
        for (const { what, names } of events) {
          const there = await projectsOf(run);
          if (what === 'apply') {
            await apply(
              run,
              names.map((name) => run + name),
              '--prune',
            );
            for (const [name, { owner, isUsed }] of expected) {
              if (owner === 'ours' && !isUsed && !names.includes(name as Name)) expected.delete(name);
            }
            for (const name of names) if (!expected.has(name)) expected.set(name, { owner: 'ours', isUsed: false });
          }
          for (const name of what === 'apply' ? [] : names) {
            const id = there.get(name);
            if (what === 'made by others' && id === undefined) {
              await post('/projects', { name: run + name });
              expected.set(name, { owner: 'others', isUsed: false });
            }
            if (what === 'deleted by others' && id !== undefined) {
              await gateway.call(`/projects/${id}`, { method: 'DELETE' });
              expected.delete(name);
            }
            if (what === 'key by others' && id !== undefined) {
              await post(`/projects/${id}/keys`, { name: 'theirs' });
              const { owner } = expected.get(name) ?? { owner: 'others' as const };
              expected.set(name, { owner, isUsed: true });
            }
          }
          expect([...(await projectsOf(run)).keys()].sort()).toEqual([...expected.keys()].sort());
        }
      }),
      { numRuns: runs(25) },
    );
  }, 60_000);

  test('of tokens too, deletes what an earlier apply created, except the one that applies', async () => {
    const tokenEvent = fc.record({ by: fc.constantFrom('env', ...NAMES), names: fc.subarray([...NAMES]) });
    await fc.assert(
      fc.asyncProperty(fc.array(tokenEvent, { minLength: 2, maxLength: 5 }), async (events) => {
        const run = `prune-${crypto.randomUUID()}-`;
        const path = join(gateway.folder, `${run}.yaml`);
        const theirs = `${run}theirs`;
        await post('/tokens', { name: theirs });
        let expected = new Set<string>();
        for (const [round, { by, names }] of events.entries()) {
          const fileOf = (name: string) => join(gateway.folder, run, name);
          // A revoked secret is not used again: each round that creates one has a new file.
          const tokens = names.map((name) => ({ name: run + name, secret: { write_to: `${fileOf(name)}-${round}` } }));
          await Bun.write(path, JSON.stringify({ version: 1, tokens }));
          const isIn = by !== 'env' && expected.has(by);
          const own: Record<string, string> = isIn ? { ADMIN_TOKEN: secrets.get(run + by) ?? '' } : {};
          const told = await gateway.command(['apply', '-f', path, '--name', run, '--prune'], own);
          expect(told).toMatchObject({ code: 0 });
          for (const name of names.filter((one) => !expected.has(one))) {
            secrets.set(run + name, (await Bun.file(`${fileOf(name)}-${round}`).text()).trim());
          }
          expected = new Set([...names, ...(isIn ? [by] : [])]);
          const { data } = await gateway.read('/tokens?limit=1000');
          const left = data.map((one) => String(one.name)).filter((name) => name.startsWith(run) && name !== theirs);
          expect(left.sort()).toEqual([...expected].map((name) => run + name).sort());
          expect(data.some((one) => one.name === theirs)).toBe(true);
        }
      }),
      { numRuns: runs(20) },
    );
  }, 60_000);

  test('without --prune nothing is deleted, and other names own nothing', async () => {
    const run = `prune-${crypto.randomUUID()}-`;
    await apply(run, [`${run}a`, `${run}b`]);
    expect(await apply(run, [`${run}a`])).toContain('1 resources of earlier applies are not in the file');
    await apply(`${run}other`, [`${run}a`], '--prune');
    await apply(`${run}other`, [], '--prune');
    expect([...(await projectsOf(run)).keys()].sort()).toEqual(['a', 'b']);
    expect(await apply(run, [], '--prune')).toContain('2 deleted');
    expect(await projectsOf(run)).toEqual(new Map());
  });

  test('a team goes after its projects left it, and stays with a project of others', async () => {
    const [name, theirs] = [0, 0].map(() => `prune-${crypto.randomUUID().slice(0, 8)}`);
    const path = join(gateway.folder, `${name}.yaml`);
    const applyTeams = async (teams: readonly string[], team_id: string | null) => {
      const all = teams.map((team) => ({ name: `${name}-${team}` }));
      const project = { name, team_id: team_id === null ? null : `${name}-${team_id}` };
      await Bun.write(path, JSON.stringify({ version: 1, teams: all, projects: [project] }));
      const told = await gateway.command(['apply', '-f', path, '--name', `${name}`, '--prune']);
      const { data } = await gateway.read('/teams?limit=1000');
      const left = data.map((one) => String(one.name)).filter((one) => one.startsWith(`${name}-`));
      return { ...told, left: left.map((one) => one.slice(`${name}-`.length)).sort() };
    };
    expect(await applyTeams(['a', 'b'], 'a')).toMatchObject({ code: 0, left: ['a', 'b'] });
    const moved = await applyTeams(['b', 'c'], 'c');
    expect(moved).toMatchObject({ code: 0, left: ['b', 'c'], err: '1 created, 1 changed, 1 deleted, 1 unchanged' });
    const { data } = await gateway.read('/teams?limit=1000');
    const idOf = (team: string) => data.find((one) => one.name === `${name}-${team}`)?.id;
    await post('/projects', { name: theirs, team_id: idOf('b') });
    const stays = await applyTeams(['c'], null);
    expect(stays).toMatchObject({ code: 0, left: ['b', 'c'] });
    expect(stays.err).toContain(`team ${name}-b stays: it has the project ${theirs}`);
    expect(await applyTeams([], null)).toMatchObject({ code: 0, left: ['b'] });
  });

  test('a name that others used again after a deletion is theirs', async () => {
    const name = `p${crypto.randomUUID().slice(0, 8)}`;
    const path = join(gateway.folder, `${name}.yaml`);
    const body = { name, base_url: 'http://127.0.0.1:9/v1' };
    const line = ['apply', '-f', path, '--name', name];
    await Bun.write(path, JSON.stringify({ version: 1, providers: [body] }));
    expect((await gateway.command(line)).code).toBe(0);
    await gateway.call(`/providers/${name}`, { method: 'DELETE' });
    await post('/providers', body);
    await Bun.write(path, JSON.stringify({ version: 1 }));
    expect((await gateway.command([...line, '--prune'])).err).toContain('0 deleted');
    expect((await gateway.call(`/providers/${name}`)).status).toBe(200);
  });
});
