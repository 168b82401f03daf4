// Loaded into every process of unit tests: what needs a server must not pass for one that needs none.
const refuse = () => {
  throw new Error('a unit test starts no process: what it loads must say `Bun.spawn`, then it runs beside the stores');
};

Bun.spawn = refuse;
Bun.spawnSync = refuse;
