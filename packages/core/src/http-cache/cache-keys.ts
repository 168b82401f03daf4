import { splitList } from './cache-control';
import type { RequestFields } from './use-answer';

const sha256 = (text: string): string => Bun.CryptoHasher.hash('sha256', text, 'hex');

/** `revision`: of the backend; `target`: path and query. */
export interface Addressed {
  readonly projectId: string;
  readonly revision: string;
  readonly target: string;
}

/** What an address is called here: SHA-256, hex. */
export const resourceOf = ({ projectId, revision, target }: Addressed): string =>
  sha256(`${projectId}\n${revision}\n${target}`);

/** What chooses among the answers of a resource. */
export interface Choosing {
  readonly fields: RequestFields;
  /** The request says who its caller is: what others got by default is not for it. */
  readonly namesCaller: boolean;
}

/** Of answers that nothing chose it is the resource's. */
export function variantKey(resource: string, vary: readonly string[], { fields, namesCaller }: Choosing): string {
  const base = namesCaller ? namedKey(resource) : resource;
  if (vary.length === 0) return base;
  return sha256(JSON.stringify([base, ...vary.map((name) => [name, normalize(fields.get(name))])]));
}

/** Of answers to callers that say who they are. */
export const namedKey = (resource: string): string => sha256(`${resource}\nnamed`);

const normalize = (value: string | null): string | null => (value === null ? null : splitList(value).join(','));
