// Both ends around a relay of sessions, by ROLE: a vendor that sends as fast as it can, or a relay that does nothing else.
const upstream = process.env.UPSTREAM_URL ?? '';
const FRAMES = 20_000;
const AUDIO = 'A'.repeat(2000);
const FRAME = JSON.stringify({ type: 'response.output_audio.delta', response_id: 'resp_1', delta: AUDIO });
const usage = { input_tokens: 10, output_tokens: 10, total_tokens: 20 };
const FIRST = JSON.stringify({ type: 'response.created', response: { id: 'resp_1', status: 'in_progress' } });
const LAST = JSON.stringify({ type: 'response.done', response: { id: 'resp_1', status: 'completed', usage } });

interface Vendor {
  left: number;
}
interface Relay {
  to?: WebSocket;
}

/** `pause` and `resume` are the runtime's own. */
type Pausable = WebSocket & { pause(): void; resume(): void };

const vendor = {
  open: (socket: Bun.ServerWebSocket<Vendor>) => void socket.send('{"type":"session.created","session":{}}'),
  message(socket: Bun.ServerWebSocket<Vendor>) {
    socket.data.left = FRAMES;
    socket.send(FIRST);
    pour(socket);
  },
  drain: (socket: Bun.ServerWebSocket<Vendor>) => pour(socket),
  backpressureLimit: 0,
};

function pour(socket: Bun.ServerWebSocket<Vendor>): void {
  const { data } = socket;
  while (data.left > 0) {
    data.left -= 1;
    const sent = socket.send(data.left === 0 ? LAST : FRAME);
    if (sent === -1) return;
  }
}

const relay = {
  open(socket: Bun.ServerWebSocket<Relay>) {
    const options = { perMessageDeflate: false } as unknown as string[];
    const to = new WebSocket(`${upstream.replace('http', 'ws')}/v1/realtime?model=x`, options) as Pausable;
    to.onmessage = ({ data }) => {
      if (socket.send(data as string) === -1) to.pause();
    };
    to.onclose = () => socket.close();
    socket.data.to = to;
  },
  async message(socket: Bun.ServerWebSocket<Relay>, message: string | Buffer) {
    const { to } = socket.data;
    if (to?.readyState === WebSocket.CONNECTING) await new Promise((resolve) => to.addEventListener('open', resolve));
    to?.send(message as string);
  },
  drain: (socket: Bun.ServerWebSocket<Relay>) => (socket.data.to as Pausable | undefined)?.resume(),
  close: (socket: Bun.ServerWebSocket<Relay>) => socket.data.to?.close(),
  backpressureLimit: 0,
};

const server = Bun.serve({
  port: Number(process.env.PORT ?? 0),
  hostname: '127.0.0.1',
  fetch: (request, self) =>
    self.upgrade(request, { data: { left: 0 } }) ? undefined : new Response('no', { status: 426 }),
  websocket: (process.env.ROLE === 'relay' ? relay : vendor) as unknown as Bun.WebSocketHandler<Vendor>,
});

console.log(`ready ${server.port}`);

export {};
