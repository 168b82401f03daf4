import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, lstatSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeFolder, temporaryFolder } from '@llm0/testing/stores/server-process';
import { connectDatabase } from '../client';
import { openDatabase } from '../open-database';
import { projectRows } from '../queries/access/projects';
import { isAlive, lockDataDir, processIdentity } from './data-dir-lock';
import { startEmbeddedPostgres } from './start-embedded-postgres';

const folders: string[] = [];
function newFolder(): string {
  const folder = temporaryFolder('embedded-test');
  folders.push(folder);
  return folder;
}
afterAll(() => {
  for (const folder of folders) removeFolder(folder);
});

async function waitFor(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('waited in vain');
    await Bun.sleep(20);
  }
}

describe('embedded Postgres', () => {
  test('nothing committed is lost when the child is killed, and the client comes back by itself', async () => {
    const dataDir = newFolder();
    const warnings: string[] = [];
    const embedded = await startEmbeddedPostgres({ dataDir, onWarning: (text) => warnings.push(text) });
    const { client, close } = connectDatabase({ socketPath: embedded.socketPath });
    await client.unsafe('create table kept (id int primary key, text text)');
    let committed = 0;
    for (let round = 0; round < 3; round++) {
      const pid = embedded.pid();
      if (pid === null) throw new Error('no child');
      const writing = (async () => {
        for (;;) {
          await client.unsafe('insert into kept values ($1, repeat($2, 500))', [committed, 'x']);
          committed++;
        }
      })();
      await Bun.sleep(150);
      process.kill(pid, 'SIGKILL');
      await expect(writing).rejects.toThrow();
      await waitFor(
        () => embedded.pid() !== null && embedded.pid() !== pid && warnings.at(-1)?.includes('back') === true,
      );
      const [row] = await client.unsafe<{ n: number; top: number }[]>(
        'select count(*)::int as n, max(id) as top from kept',
      );
      // The statement in flight may or may not have been committed; it was never confirmed.
      expect([committed, committed + 1]).toContain(row?.n ?? -1);
      committed = row?.n ?? 0;
      expect(row?.top).toBe(committed - 1);
    }
    expect(committed).toBeGreaterThan(10);
    expect(statSync(embedded.socketPath).mode & 0o077).toBe(0);
    const paths = readdirSync(dataDir, { recursive: true, encoding: 'utf8' });
    expect(paths.length).toBeGreaterThan(500);
    const open = paths.filter((path) => (lstatSync(join(dataDir, path)).mode & 0o077) !== 0);
    expect(open).toEqual([]);
    await close();
    await embedded.stop();
    expect(existsSync(join(dataDir, 'lock'))).toBe(false);
  }, 90_000);

  test('a gateway that is killed takes its child along, and the next one finds everything', async () => {
    const dataDir = newFolder();
    const script = `
      const { openDatabase } = await import(${JSON.stringify(join(import.meta.dir, '../open-database.ts'))});
      const { projectRows } = await import(${JSON.stringify(join(import.meta.dir, '../queries/access/projects.ts'))});
      const database = await openDatabase({ dataDir: ${JSON.stringify(dataDir)}, onWarning: console.error });
      console.log((await projectRows.create(database.db, { name: 'survivor' })).id);
      setInterval(() => {}, 1000);`;
    const gateway = Bun.spawn([process.execPath, '--no-env-file', '-e', script], { stdout: 'pipe', stderr: 'inherit' });
    const { value } = await gateway.stdout.getReader().read();
    const id = new TextDecoder().decode(value).trim();
    const child = readFileSync(join(dataDir, 'postgres.pid'), 'utf8').trim();
    expect(isAlive(child)).toBe(true);
    await expect(openDatabase({ dataDir, onWarning: () => {} })).rejects.toThrow(`pid ${gateway.pid}`);
    gateway.kill('SIGKILL');
    await gateway.exited;
    const database = await openDatabase({ dataDir, onWarning: () => {} });
    expect(isAlive(child)).toBe(false);
    expect((await projectRows.get(database.db, { id }))?.name).toBe('survivor');
    await projectRows.create(database.db, { name: 'next' });
    await database.close();
  }, 90_000);
});

describe('data folder lock', () => {
  test('one process may take it twice, and frees it with the last release', () => {
    const dataDir = newFolder();
    const [first, second] = [lockDataDir(dataDir), lockDataDir(dataDir)];
    first.release();
    first.release();
    expect(existsSync(join(dataDir, 'lock'))).toBe(true);
    second.release();
    expect(existsSync(join(dataDir, 'lock'))).toBe(false);
  });

  test.each([
    ['a dead process', '4194303 1'],
    ['an earlier process with this pid', `${process.pid} 1`],
    ['an earlier process with a living pid', '1 0'],
    ['nothing readable', ''],
  ])('the lock of %s is taken over', (_name, identity) => {
    const dataDir = newFolder();
    writeFileSync(join(dataDir, 'lock'), identity);
    const lock = lockDataDir(dataDir);
    expect(readFileSync(join(dataDir, 'lock'), 'utf8')).toBe(processIdentity(process.pid) ?? '');
    lock.release();
  });

  test('the lock of a living process is respected, in one line', async () => {
    const dataDir = newFolder();
    const other = Bun.spawn(['sleep', '30']);
    writeFileSync(join(dataDir, 'lock'), processIdentity(other.pid) ?? '');
    expect(() => lockDataDir(dataDir)).toThrow(
      new RegExp(`^[^\\n]*in use by another gateway \\(pid ${other.pid}\\)[^\\n]*$`),
    );
    other.kill();
    await other.exited;
    lockDataDir(dataDir).release();
  });
});
