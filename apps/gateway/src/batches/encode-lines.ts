import type { StoredBatch } from '@llm0/drizzle/queries/batches/batches';
import type { VendorLine } from '@llm0/providers/batches';
import { isGuarded } from '../pipeline/guard/guard-input';
import { loadPrincipal } from '../pipeline/request/authenticate';
import { openContext } from '../pipeline/request/open-context';
import type { Services } from '../services/contract';
import { readLineBody } from './check-lines';
import { type EncodedBatch, vendorOf } from './forward-batch';
import type { EncodedLine, LineEndpoint } from './line-endpoint';
import { readInput } from './read-input';

interface Encoding {
  readonly batch: StoredBatch;
  readonly endpoint: LineEndpoint | undefined;
  readonly keyHash: string;
}

/** Each model is a batch of its own there. */
const MAX_MODELS = 20;

/** Lines of one path at one vendor, by their models. */
interface VendorLines {
  readonly provider: string;
  readonly groups: Map<string, { readonly names: Set<string>; readonly lines: VendorLine[] }>;
}

/** The lines of the vendor that can run most of them; undefined where none can. */
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
    const byPlace = new Map<string, VendorLines>();
    let total = 0;
    const input = services.files.store.read(batch.inputFileId);
    for await (const { text } of readInput(input, services.config.maxBodyBytes)) {
      const id = String(total++);
      const body = readLineBody(text, batch.dialect);
      const one = encodeOne(() => encodeFor(origin, body));
      const path = one && pathOf(services, batch, one);
      if (one !== undefined && path !== undefined) {
        const { provider, model } = one;
        const place = byPlace.getOrInsertComputed(`${provider} ${path}`, () => ({ provider, groups: new Map() }));
        addLine(place, { model, name: String(body.model), line: { id, path, body: one.body } });
      }
    }
    return chosenOf([...byPlace.values()], total);
  } finally {
    underWay.end();
  }
}

/** undefined for a line that can't be sent: it fails by itself, here. */
function encodeOne(encode: () => EncodedLine): EncodedLine | undefined {
  try {
    return encode();
  } catch {
    return undefined;
  }
}

interface NewLine {
  readonly model: string;
  readonly name: string;
  readonly line: VendorLine;
}

function addLine({ groups }: VendorLines, { model, name, line }: NewLine): void {
  if (groups.size >= MAX_MODELS && !groups.has(model)) return;
  const group = groups.getOrInsertComputed(model, () => ({ names: new Set(), lines: [] }));
  group.names.add(name);
  group.lines.push(line);
}

function chosenOf(places: readonly VendorLines[], total: number): EncodedBatch | undefined {
  const [most] = places.toSorted((a, b) => countOf(b) - countOf(a));
  if (most === undefined) return undefined;
  const [group, ...others] = [...most.groups].map(([model, parts]) => ({ model, ...parts }));
  if (group === undefined) return undefined;
  const sent = new Set([group, ...others].flatMap(({ lines }) => lines.map(({ id }) => Number(id))));
  const own = Array.from({ length: total }, (_, line) => line).filter((line) => !sent.has(line));
  return { provider: most.provider, own, groups: [group, ...others] };
}

const countOf = ({ groups }: VendorLines): number =>
  [...groups.values()].reduce((sum, one) => sum + one.lines.length, 0);

function pathOf(
  services: Pick<Services, 'connect' | 'fetch'>,
  batch: StoredBatch,
  one: { readonly provider: string; readonly model: string; readonly url: string },
): string | undefined {
  return vendorOf(services, batch, one)?.part.paths.find((path) => one.url.endsWith(path));
}
