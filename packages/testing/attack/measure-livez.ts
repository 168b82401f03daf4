// A process of its own: asks /livez again and again, and beside it a bare server, so that this machine's own pauses show.
// `mark` on standard input tells what was worst since the last one, as a line of JSON.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { Readings } from './watch-gateway';

const PAUSE_MS = 3;
const MEMORY_EVERY_MS = 25;
const PAGE_BYTES = 4096;
const BETWEEN_TURNS_MS = 1;
const NANOSECONDS = 1e6;

const [url = '', bareUrl = '', pid = ''] = process.argv.slice(2);
const NOTHING = { livezMs: 0, ownMs: 0, bareMs: 0, memoryBytes: 0, asked: 0, failed: 0 };
const worst = { ...NOTHING };

interface Turn {
  readonly ms: number;
  /** Of it, how long the gateway could have run and got no core. */
  readonly waitedMs: number;
  readonly isAnswered: boolean;
}

/** One connection kept open: a round trip measures the loop of the other side, not what connecting costs. */
async function ask(target: string, note: (seen: Turn) => void): Promise<never> {
  const { hostname, port } = new URL(target);
  const request = `GET /livez HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`;
  for (;;) {
    const socket = connect(Number(port), hostname);
    socket.setNoDelay(true);
    let isOpen = true;
    let wake = () => {};
    const gone = () => {
      isOpen = false;
      wake();
    };
    socket.on('error', gone).on('close', gone);
    socket.on('data', () => wake());
    while (isOpen) {
      const answered = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const [startMs, waitedMs] = [performance.now(), waitedForCoreMs()];
      socket.write(request);
      await answered;
      note({ ms: performance.now() - startMs, waitedMs: waitedForCoreMs() - waitedMs, isAnswered: isOpen });
      await Bun.sleep(PAUSE_MS);
    }
    await Bun.sleep(BETWEEN_TURNS_MS);
  }
}

void ask(url, ({ ms, waitedMs, isAnswered }) => {
  worst.asked += 1;
  if (!isAnswered) worst.failed += 1;
  worst.livezMs = Math.max(worst.livezMs, ms);
  worst.ownMs = Math.max(worst.ownMs, ms - waitedMs);
});
void ask(bareUrl, ({ ms }) => {
  worst.bareMs = Math.max(worst.bareMs, ms);
});
setInterval(() => {
  worst.memoryBytes = Math.max(worst.memoryBytes, residentBytes());
}, MEMORY_EVERY_MS);

/** What the system counts for the thread that answers; 0 where it does not. */
function waitedForCoreMs(): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[1]) / NANOSECONDS;
  } catch {
    return 0;
  }
}

function residentBytes(): number {
  try {
    if (process.platform !== 'linux') {
      return 1024 * Number(Bun.spawnSync(['ps', '-o', 'rss=', '-p', pid]).stdout.toString());
    }
    return PAGE_BYTES * Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
  } catch {
    return 0;
  }
}

for await (const line of console) {
  if (line !== 'mark') continue;
  const readings: Readings = { ...worst, nowBytes: residentBytes() };
  console.log(JSON.stringify(readings));
  Object.assign(worst, NOTHING);
}
process.exit(0);
