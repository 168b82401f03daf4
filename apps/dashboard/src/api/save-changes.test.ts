import { describe, expect, test } from 'bun:test';
import { ApiError } from './client';
import { ChangedMeanwhile, findConflicts, type Saving, saveChanges } from './save-changes';

type Thing = { name: string; cap: number | null };

/** A thing that others may change, kept by a server that knows tags. */
function serve(thing: Thing) {
  let version = 0;
  const change = (changes: Partial<Thing>) => {
    Object.assign(thing, changes);
    version++;
  };
  const answer = () => {
    const tag = String(version);
    return { headers: { get: () => tag }, json: async () => ({ ...thing }) };
  };
  const saving = (opened: Thing, changes: object, between = () => {}): Saving<Thing, Thing> => ({
    ...{ opened, changes, read: async () => answer() },
    write: async ({ headers }) => {
      between();
      if (headers['If-Match'] !== String(version)) throw new ApiError('changed', 412, 'conflict');
      change(changes);
      return answer();
    },
  });
  return { change, saving };
}

describe('saving', () => {
  const opened: Thing = { name: 'a', cap: 1 };

  test('changes of other fields by others stay', async () => {
    const server = serve({ ...opened });
    server.change({ cap: 2 });
    expect(await saveChanges(server.saving(opened, { name: 'b' }))).toEqual({ name: 'b', cap: 2 });
  });

  test('another change of the same field is shown, not overwritten', async () => {
    const server = serve({ ...opened });
    server.change({ cap: 2 });
    const error = await saveChanges(server.saving(opened, { cap: '3' })).catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(ChangedMeanwhile);
    expect(error as ChangedMeanwhile).toMatchObject({ conflicts: [{ name: 'cap', mine: '3', theirs: 2 }] });
  });

  test('a change between reading and writing is seen as well', async () => {
    const server = serve({ ...opened });
    let turns = 0;
    const others = () => turns++ === 0 && server.change({ name: 'c' });
    expect(await saveChanges(server.saving(opened, { cap: 5 }, others))).toEqual({ name: 'c', cap: 5 });
    const busy = serve({ ...opened });
    const endless = busy.saving(opened, { cap: 6 }, () => busy.change({}));
    expect(((await saveChanges(endless).catch((cause: unknown) => cause)) as ApiError).status).toBe(412);
  });

  test('an unchanged value is no conflict', () => {
    expect(findConflicts({ cap: 1, list: null }, { cap: 2, list: ['a'] }, { cap: '2.0', list: ['a'] })).toEqual([]);
    expect(findConflicts({ cap: null }, { cap: 0 }, { cap: '1' })).toHaveLength(1);
  });
});
