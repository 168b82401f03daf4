// Bytes that the kernel hasn't sent or the peer hasn't acknowledged:
// https://docs.kernel.org/networking/proc_net_tcp.html

/** The peer's address; undefined if unknown. */
export type UnsentBytes = (address: { readonly address: string; readonly port: number }) => number | undefined;

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
const COLUMNS = { remote: 2, queues: 4 };

/** Reads the kernel's tables; empty if they don't exist. */
export async function readUnsent(): Promise<UnsentBytes> {
  const texts = await Promise.all(TABLES.map((path) => readTable(path)));
  const byPort = new Map<string, string[][]>();
  for (const line of texts.join('\n').split('\n')) {
    const columns = line.trim().split(/\s+/);
    const port = columns[COLUMNS.remote]?.split(':')[1];
    if (port === undefined) continue;
    const known = byPort.get(port);
    if (known === undefined) byPort.set(port, [columns]);
    else known.push(columns);
  }
  return ({ address, port }) => {
    const suffix = hexOf(address);
    const rows = byPort.get(port.toString(16).toUpperCase().padStart(4, '0')) ?? [];
    const own = rows.filter((columns) => columns[COLUMNS.remote]?.split(':')[0]?.endsWith(suffix));
    if (own.length === 0) return undefined;
    return own.reduce((sum, columns) => sum + Number.parseInt(columns[COLUMNS.queues]?.split(':')[0] ?? '0', 16), 0);
  };
}

const readTable = (path: string): Promise<string> =>
  Bun.file(path)
    .text()
    .catch(() => '');

/** The address in the table's format for IPv4; for others the port suffices. */
function hexOf(address: string): string {
  const parts = /(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(address)?.slice(1) ?? [];
  return parts
    .reverse()
    .map((part) => Number(part).toString(16).toUpperCase().padStart(2, '0'))
    .join('');
}
