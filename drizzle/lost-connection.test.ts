import { expect, test } from 'bun:test';
import { TEST_DATABASES } from './testing/test-databases';

const real = TEST_DATABASES.find(({ name }) => name === 'postgres');
if (real !== undefined) {
  // The client's own code would throw outside any promise and end the process: see patches/.
  test('a query on a connection whose server end is gone is refused, and the process lives', async () => {
    const database = await real.open();
    try {
      const reserved = await database.client.reserve();
      const [row] = await reserved<{ pid: number }[]>`select pg_backend_pid() as pid`;
      await database.client`select pg_terminate_backend(${row?.pid ?? 0})`;
      await Bun.sleep(100);
      const failure = await reserved`select 1`.catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'CONNECTION_CLOSED' });
      reserved.release();
      expect(await database.client`select 1 as one`).toMatchObject([{ one: 1 }]);
    } finally {
      await database.close();
    }
  }, 30_000);
}
