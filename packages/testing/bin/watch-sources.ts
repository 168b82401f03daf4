import { watch } from 'node:fs';

/** An editor writes several files, or one several times, at a stroke. */
const QUIET_MS = 150;
const IGNORED = /(^|\/)(node_modules|dist|data|\.git|\.dist-[^/]*)(\/|$)/;

/** Paths of files that changed, from the root, gathered while the last ones are dealt with. */
export async function* watchSources(root: string): AsyncGenerator<readonly string[], never> {
  const changed = new Set<string>();
  let wake = () => {};
  watch(root, { recursive: true }, (_event, path) => {
    if (path === null || IGNORED.test(path)) return;
    changed.add(path);
    wake();
  });
  for (;;) {
    if (changed.size === 0) await new Promise<void>((resolve) => (wake = resolve));
    await Bun.sleep(QUIET_MS);
    const batch = [...changed];
    changed.clear();
    yield batch;
  }
}
