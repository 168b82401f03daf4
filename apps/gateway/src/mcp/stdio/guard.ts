// Runs one stdio server in the process group that it leads, and takes the whole group down when the gateway is gone,
// however it went: `bun guard.ts <pid of the gateway> <command> [argument…]`.
import process from 'node:process';

const [parent, command = '', ...args] = process.argv.slice(2);
const LOOK_EVERY_MS = 250;

function start() {
  try {
    return Bun.spawn([command, ...args], { stdin: 'inherit', stdout: 'inherit', stderr: 'inherit' });
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    // What a shell says of a command that is not there.
    process.exit(127);
  }
}

const server = start();
setInterval(() => {
  if (process.ppid !== Number(parent)) process.kill(-process.pid, 'SIGKILL');
}, LOOK_EVERY_MS);
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => server.kill(signal));
const code = await server.exited;
process.exit(server.signalCode === null ? code : 128);
