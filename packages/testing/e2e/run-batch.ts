import OpenAI, { toFile } from 'openai';
import type { GatewayProcess } from '../stores/start-gateway';

/** A client that lives through restarts of its gateway. */
export const batchClient = ({ url }: Pick<GatewayProcess, 'url'>, apiKey: string): OpenAI =>
  new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });

/** Makes a batch of so many chat requests. `more`: beside model and messages. */
export async function makeBatch(
  client: OpenAI,
  lines: number,
  more: object | ((line: number) => object),
  headers: Readonly<Record<string, string>> = {},
): Promise<OpenAI.Batch> {
  const endpoint = '/v1/chat/completions';
  const lineOf = (index: number) => {
    const body = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: `hello ${index}` }] };
    Object.assign(body, typeof more === 'function' ? more(index) : more);
    return JSON.stringify({ custom_id: `line-${index}`, method: 'POST', url: endpoint, body });
  };
  const text = Array.from({ length: lines }, (_, index) => lineOf(index)).join('\n');
  const file = await client.files.create({ file: await toFile(Buffer.from(text), 'input.jsonl'), purpose: 'batch' });
  return client.batches.create({ input_file_id: file.id, endpoint, completion_window: '24h' }, { headers });
}

const ENDS = new Set(['completed', 'failed', 'expired', 'cancelled']);

/** Reads the batch until it is so, or at its end. */
export async function readUntil(
  client: () => OpenAI,
  id: string,
  isSo: (batch: OpenAI.Batch) => boolean = () => false,
): Promise<OpenAI.Batch> {
  for (;;) {
    const batch = await client().batches.retrieve(id);
    if (ENDS.has(batch.status) || isSo(batch)) return batch;
    await Bun.sleep(100);
  }
}

/** A result file; empty without one. */
export const textOf = async (client: OpenAI, fileId: string | null | undefined): Promise<string> =>
  fileId == null ? '' : (await client.files.content(fileId)).text();

/** Ids of the lines in a result file, in its order. */
export async function idsIn(client: OpenAI, fileId: string | null | undefined): Promise<string[]> {
  const text = await textOf(client, fileId);
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => (JSON.parse(line) as { custom_id: string }).custom_id);
}
