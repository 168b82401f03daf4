import { splitList } from './cache-control';
import type { RequestFields } from './use-answer';

const sha256 = (text: string): string => Bun.CryptoHasher.hash('sha256', text, 'hex');

/** `revision`: of the backend; `target`: path and query. */
export interface Addressed {
  readonly projectId: string;
  readonly revision: string;
  readonly target: string;
}

/** Name of an address: SHA-256, hex. */
export const resourceOf = ({ projectId, revision, target }: Addressed): string =>
  sha256(`${projectId}\n${revision}\n${target}`);

/** Key of an answer; without `Vary`, the resource's own. */
export function variantKey(resource: string, vary: readonly string[], fields: RequestFields): string {
  if (vary.length === 0) return resource;
  return sha256(JSON.stringify([resource, ...vary.map((name) => [name, normalize(fields.get(name))])]));
}

const normalize = (value: string | null): string | null => (value === null ? null : splitList(value).join(','));
