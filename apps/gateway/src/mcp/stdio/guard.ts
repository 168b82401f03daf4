// Runs one stdio server in its own process group and kills the group when the gateway ends: `bun guard.ts <pid of the
// gateway> <command> [argument…]`.
import { dlopen, FFIType } from 'bun:ffi';
import process from 'node:process';

const [parent, command = '', ...args] = process.argv.slice(2);
const LOOK_EVERY_MS = 250;
const PR_SET_PDEATHSIG = 1;

function start() {
  try {
    return Bun.spawn([command, ...args], { stdin: 'inherit', stdout: 'inherit', stderr: 'inherit', env: process.env });
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    // Exit code of a shell for an unknown command.
    process.exit(127);
  }
}

/** A gateway with `--no-orphans` has its children killed at once, alone: the guard must outlive it for its last task. */
function outliveParent(): void {
  const { i32, u64 } = FFIType;
  for (const name of ['libc.so.6', 'libc.musl-x86_64.so.1', 'libc.musl-aarch64.so.1']) {
    try {
      const { symbols } = dlopen(name, { prctl: { args: [i32, u64, u64, u64, u64], returns: i32 } });
      symbols.prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
      return;
    } catch {
      // Another system: the next name, or nothing to undo.
    }
  }
}

outliveParent();
const server = start();
setInterval(() => {
  if (process.ppid !== Number(parent)) process.kill(-process.pid, 'SIGKILL');
}, LOOK_EVERY_MS);
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => server.kill(signal));
const code = await server.exited;
process.exit(server.signalCode === null ? code : 128);
