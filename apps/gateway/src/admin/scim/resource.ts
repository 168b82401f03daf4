import type { ScimFilter } from '@llm0/drizzle/queries/scim/filter';
import type { Actor } from '../admin-services';
import type { Shape } from './attributes';
import type { Complex } from './shape-resource';

/** Resources as SCIM shows them; `hasLinked` false leaves the attribute `linked` out. */
export type Show = (base: string, hasLinked: boolean) => Promise<readonly object[]>;

export interface ListRequest {
  readonly filter: ScimFilter | undefined;
  readonly offset: number;
  readonly limit: number;
}

/** A kind of resource. Everything throws `not_found` for an unknown id. */
export interface Resource {
  readonly shape: Shape;
  /** The attribute that costs a look-up of its own. */
  readonly linked: string;
  list(request: ListRequest): Promise<{ readonly total: number; readonly show: Show }>;
  find(id: string): Promise<Show>;
  create(actor: Actor, given: Complex): Promise<Show>;
  /** `decide` gets what clients may set as it is. */
  change(actor: Actor, id: string, decide: (before: Complex) => Complex): Promise<Show>;
  remove(actor: Actor, id: string): Promise<void>;
}

interface Dated {
  readonly id: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export const metaOf = ({ name, path }: Shape, { id, createdAtMs, updatedAtMs }: Dated, base: string) => ({
  resourceType: name,
  created: new Date(createdAtMs).toISOString(),
  lastModified: new Date(updatedAtMs).toISOString(),
  location: `${base}${path}/${id}`,
});
