import type { StoredBatch } from '@llm0/drizzle/queries/batches/batches';
import type { VendorLine } from '@llm0/providers/batches';
import { isGuarded } from '../pipeline/guard/guard-input';
import { loadPrincipal } from '../pipeline/request/authenticate';
import { openContext } from '../pipeline/request/open-context';
import type { Services } from '../services/contract';
import { readLineBody } from './check-lines';
import { type EncodedBatch, vendorOf } from './forward-batch';
import type { LineEndpoint } from './line-endpoint';
import { readInput } from './read-input';

interface Encoding {
  readonly batch: StoredBatch;
  readonly endpoint: LineEndpoint | undefined;
  readonly keyHash: string;
}

/** Each model is a batch of its own there. */
const MAX_MODELS = 20;

/** undefined unless one vendor can run all lines of the batch as they are. */
export async function encodeLines(
  services: Services,
  { batch, endpoint, keyHash }: Encoding,
): Promise<EncodedBatch | undefined> {
  const { encodeFor } = endpoint ?? {};
  if (encodeFor === undefined) return undefined;
  const underWay = services.openRequests.enter();
  try {
    const request = new Request('http://localhost/', { headers: batch.headers });
    const ctx = openContext(services, request, { held: underWay.held });
    const principal = await loadPrincipal(services, keyHash);
    // Guardrails judge before anything leaves.
    if (isGuarded(ctx, principal)) return undefined;
    const origin = { ctx, principal, headers: request.headers };
    const groups = new Map<string, { readonly names: Set<string>; readonly lines: VendorLine[] }>();
    let first: { readonly provider: string; readonly path: string } | undefined;
    let count = 0;
    const input = services.files.store.read(batch.inputFileId);
    for await (const { text } of readInput(input, services.config.maxBodyBytes)) {
      const body = readLineBody(text, batch.dialect);
      const { provider, model, ...one } = encodeFor(origin, body);
      const path = pathOf(services, batch, { provider, model, ...one });
      if (path === undefined) return undefined;
      first ??= { provider, path };
      if (provider !== first.provider || path !== first.path) return undefined;
      const group = groups.getOrInsertComputed(model, () => ({ names: new Set(), lines: [] }));
      if (groups.size > MAX_MODELS) return undefined;
      group.names.add(String(body.model));
      group.lines.push({ id: String(count++), path, body: one.body });
    }
    const [group, ...others] = [...groups].map(([model, parts]) => ({ model, ...parts }));
    return first && group && { provider: first.provider, groups: [group, ...others] };
  } catch {
    // A line that can't be sent fails by itself, here.
    return undefined;
  } finally {
    underWay.end();
  }
}

function pathOf(
  services: Pick<Services, 'connect' | 'fetch'>,
  batch: StoredBatch,
  one: { readonly provider: string; readonly model: string; readonly url: string },
): string | undefined {
  return vendorOf(services, batch, one)?.part.paths.find((path) => one.url.endsWith(path));
}
