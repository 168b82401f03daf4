import type { JsonObject } from '@llm0/core/chat/json';
import { isSameTarget } from '@llm0/core/routing/target';
import type { StoredBatch } from '@llm0/drizzle/queries/batches/batches';
import type { VendorLine } from '@llm0/providers/batches';
import { isGuarded } from '../pipeline/guard/guard-input';
import { loadPrincipal } from '../pipeline/request/load-principal';
import { openContext } from '../pipeline/request/open-context';
import type { Services } from '../services/contract';
import { readLineBody } from './check-lines';
import type { EncodedBatch } from './forward-batch';
import { vendorOf } from './forward-batch';
import type { LineEndpoint } from './line-endpoint';
import { readInput } from './read-input';

interface Encoding {
  readonly batch: StoredBatch;
  readonly endpoint: LineEndpoint | undefined;
  readonly keyHash: string;
}

/** undefined unless one vendor and model can run all lines of the batch as they are. */
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
    const lines: VendorLine[] = [];
    let target: { readonly provider: string; readonly model: string } | undefined;
    for await (const { text } of readInput(
      services.files.store.read(batch.inputFileId),
      services.config.maxBodyBytes,
    )) {
      const one = encodeFor(origin, readLineBody(text, batch.dialect) as JsonObject);
      target ??= one;
      const path = pathOf(services, batch, one);
      if (path === undefined || !isSameTarget(one, target) || path !== (lines[0]?.path ?? path)) return undefined;
      lines.push({ id: String(lines.length), path, body: one.body });
    }
    return target && { provider: target.provider, model: target.model, lines };
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
