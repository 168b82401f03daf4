// Closing a socket resets everything that still waits in the kernel: new connections and requests on idle ones. So the
// gateway closes sockets only after a turn of the event loop that found nothing.

type Stoppable = Pick<Bun.Server<undefined>, 'stop' | 'pendingRequests' | 'pendingWebSockets'>;

const QUIET_TURN_MS = 0.05;
const QUIET_TIMEOUT_MS = 2000;

/** Closes the listener and idle connections; running requests continue. */
export async function stopListening(server: Stoppable): Promise<void> {
  await quietTurns(() => true);
  server.stop(false).catch(() => {});
}

/** Closes remaining connections. Waits for the kernel to send the last bytes. */
export async function closeConnections(server: Stoppable): Promise<void> {
  await quietTurns(() => server.pendingRequests === 0 && server.pendingWebSockets === 0);
  await server.stop(true);
}

/** Waits for two consecutive idle turns of the event loop, or two seconds. */
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
