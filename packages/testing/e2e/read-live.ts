import type { GatewayProcess } from '../stores/start-gateway';

type At = Pick<GatewayProcess, 'url' | 'adminToken'>;

export interface LiveOptions {
  readonly query: string;
  /** Instead of the admin token's. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Reads the live stream as a page does: it comes back with the id of the last event it has read. */
export class LiveReader {
  /** Ids of rows, as often as they were told. */
  readonly rows: string[] = [];
  readonly events: string[] = [];
  cursor = '';
  private leave = new AbortController();

  constructor(private readonly options: LiveOptions) {}

  /** Resolves once the stream has ended, or was left; to its status. */
  async read(gateway: At): Promise<number> {
    this.leave = new AbortController();
    const headers = {
      'last-event-id': this.cursor,
      ...(this.options.headers ?? { authorization: `Bearer ${gateway.adminToken}` }),
    };
    const answer = await fetch(`${gateway.url}/admin/v1/live?${this.options.query}`, {
      headers,
      signal: this.leave.signal,
    }).catch(() => undefined);
    if (answer === undefined || answer.status !== 200) return answer?.status ?? 0;
    const decoder = new TextDecoder();
    let text = '';
    try {
      for await (const chunk of answer.body as ReadableStream<Uint8Array>) {
        const blocks = (text + decoder.decode(chunk, { stream: true })).split('\n\n');
        text = blocks.pop() ?? '';
        for (const block of blocks) this.take(block);
      }
    } catch {
      // Left, or the gateway was killed.
    }
    return answer.status;
  }

  stop(): void {
    this.leave.abort();
  }

  /** One event as it came, its line ends included or not. */
  take(block: string): void {
    const [, id, event, data] = /^id: (.*)\nevent: (.*)\ndata: (.*)$/.exec(block) ?? [];
    if (id === undefined || event === undefined || data === undefined) return;
    this.cursor = id;
    this.events.push(event);
    if (event !== 'logs') return;
    for (const row of (JSON.parse(data) as { rows: { request_id: string }[] }).rows) this.rows.push(row.request_id);
  }
}
