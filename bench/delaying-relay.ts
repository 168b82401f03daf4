// A wire that takes its time: everything between a client and `UPSTREAM_PORT` arrives `DELAY_MS` later, each way.
import { connect, createServer, type Socket } from 'node:net';

const upstreamPort = Number(process.env.UPSTREAM_PORT);
const delayMs = Number(process.env.DELAY_MS ?? 1);

/** Timers keep whole milliseconds and their order, so that bytes arrive as they were sent. */
function carry(from: Socket, to: Socket): void {
  from.setNoDelay(true);
  from.on('data', (bytes) => setTimeout(() => void to.write(bytes), delayMs));
  from.on('end', () => setTimeout(() => to.end(), delayMs));
  from.on('error', () => to.destroy());
  from.on('close', () => to.destroy());
}

const server = createServer((client) => {
  const upstream = connect(upstreamPort, '127.0.0.1');
  carry(client, upstream);
  carry(upstream, client);
});
server.listen(0, '127.0.0.1', () => console.log(`ready ${(server.address() as { port: number }).port}`));
