import { callAdmin, createTestKey } from '@llm0/testing/stores/start-gateway';
import { processTree, proportionalMib } from '../machine/process-stats';
import { type BenchWorld, type StartedGateway, startScript } from '../start-bench';
import { needGateway, type SpecialOutcome } from './special';

const ROUNDS = 7;
const IDLE_SESSIONS = 500;
const SETTLE_MS = 3000;
const KIB = 1024;

/** Frames of one answer through the gateway and through a relay that does nothing else; memory of idle sessions. */
export async function measureRealtime(world: BenchWorld): Promise<SpecialOutcome> {
  const gateway = needGateway(world, 'realtime');
  const vendor = await startScript('realtime-peer.ts', []);
  const relay = await startScript('realtime-peer.ts', [], { ROLE: 'relay', UPSTREAM_URL: vendor.url });
  try {
    const open = await prepare(gateway, vendor.url);
    const openRelay = () => connect(relay.url, {});
    const rates: { readonly ours: number; readonly plain: number }[] = [];
    // The first one lets the engine compile.
    for (let round = 0; round <= ROUNDS; round++) {
      const [plain, ours] = [await framesASecond(await openRelay()), await framesASecond(await open())];
      if (round > 0) rates.push({ ours, plain });
    }
    const bytes = await idleBytes(gateway, open);
    return {
      rows: [],
      notes: [describe(rates), `realtime: ${(bytes / KIB).toFixed(1)} KiB an idle session (must be ≤ 40 kB)`],
    };
  } finally {
    vendor.child.kill();
    relay.child.kill();
  }
}

async function prepare(gateway: StartedGateway, vendorUrl: string): Promise<() => Promise<WebSocket>> {
  const model = 'bench-realtime';
  const provider = { name: 'bench-sessions', kind: 'openai-compatible', base_url: `${vendorUrl}/v1` };
  await callAdmin(gateway, '/providers', { method: 'POST', body: provider });
  const prices = { mode: 'realtime', input_usd_per_million: 4, output_usd_per_million: 24 };
  const path = `/models?provider=${provider.name}&model=${model}`;
  await callAdmin(gateway, path, { method: 'PUT', body: prices });
  const { apiKey } = await createTestKey(gateway);
  return () => connect(gateway.url, { authorization: `Bearer ${apiKey}` }, `${provider.name}/${model}`);
}

function connect(url: string, headers: Record<string, string>, model = 'x'): Promise<WebSocket> {
  const address = `${url.replace('http', 'ws')}/v1/realtime?model=${encodeURIComponent(model)}`;
  const socket = new WebSocket(address, { headers, perMessageDeflate: false } as unknown as string[]);
  return new Promise((resolve, reject) => {
    socket.onopen = () => resolve(socket);
    socket.onclose = () => reject(new Error('the session was refused'));
  });
}

/** Of one answer, from its first frame to its last. */
function framesASecond(socket: WebSocket): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  let [frames, startMs] = [0, 0];
  socket.onmessage = ({ data }) => {
    const text = data as string;
    if (text.startsWith('{"type":"response.created"')) startMs = performance.now();
    frames += 1;
    if (!text.startsWith('{"type":"response.done"')) return;
    resolve((frames * 1000) / (performance.now() - startMs));
    socket.onclose = null;
    socket.close();
  };
  socket.send('{"type":"response.create"}');
  return promise;
}

async function idleBytes(gateway: StartedGateway, open: () => Promise<WebSocket>): Promise<number> {
  const memory = () => proportionalMib(processTree(gateway.pid)) * KIB * KIB;
  const many = async (count: number) => {
    const sockets: WebSocket[] = [];
    for (let i = 0; i < count; i += 1) sockets.push(await open());
    return sockets;
  };
  const first = await many(IDLE_SESSIONS / 10);
  await Bun.sleep(SETTLE_MS);
  const before = memory();
  const sockets = await many(IDLE_SESSIONS);
  await Bun.sleep(SETTLE_MS);
  const bytes = (memory() - before) / IDLE_SESSIONS;
  for (const socket of [...first, ...sockets]) {
    socket.onclose = null;
    socket.close();
  }
  return bytes;
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

function describe(rates: readonly { readonly ours: number; readonly plain: number }[]): string {
  const [ours, plain] = [median(rates.map((one) => one.ours)), median(rates.map((one) => one.plain))];
  const ratio = median(rates.map((one) => one.ours / one.plain));
  const shown = (rate: number) => Math.round(rate).toLocaleString('en');
  return `realtime: ${shown(ours)} frames/s of 2 kB, a plain relay ${shown(plain)}: ${ratio.toFixed(2)}× (must be ≥ 0.6×)`;
}
