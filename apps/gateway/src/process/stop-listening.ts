// Closing a socket resets everything that still waits in the kernel: new connections and requests on idle ones. So the
// gateway closes sockets only after a turn of the event loop that found nothing.

type Stoppable = Pick<Bun.Server<undefined>, 'stop' | 'pendingRequests'>;

const QUIET_TURN_MS = 0.05;
const QUIET_TIMEOUT_MS = 2000;

/** Closes the listener, and the connections nobody is using; requests under way go on. */
export async function stopListening(server: Stoppable): Promise<void> {
  await quietTurns(() => true);
  server.stop(false).catch(() => {});
}

/** Closes what is left. Our part of an answer ends before its last bytes are on the wire: waits for those too. */
export async function closeConnections(server: Stoppable): Promise<void> {
  await quietTurns(() => server.pendingRequests === 0);
  await server.stop(true);
}

/** Two turns of the event loop in a row in which nothing happened; where there are none, the latest after two seconds. */
async function quietTurns(isIdle: () => boolean): Promise<void> {
  const startMs = performance.now();
  let lastMs = startMs;
  for (let quiet = 0; quiet < 2 && lastMs - startMs < QUIET_TIMEOUT_MS; ) {
    if (isIdle()) await new Promise((resolve) => setImmediate(resolve));
    else await Bun.sleep(1);
    const nowMs = performance.now();
    quiet = isIdle() && nowMs - lastMs < QUIET_TURN_MS ? quiet + 1 : 0;
    lastMs = nowMs;
  }
}
