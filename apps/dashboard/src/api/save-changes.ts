// Nothing that others changed meanwhile is lost: only changed fields are sent, with the tag of what was just read; where
// somebody changed the same field, `ChangedMeanwhile` says what stands against what.
import { ApiError } from './client';

type Fields = Readonly<Record<string, unknown>>;

export interface Conflict {
  readonly name: string;
  readonly mine: unknown;
  readonly theirs: unknown;
}

/** Fields that were changed here, and by somebody else to something else. */
export class ChangedMeanwhile extends Error {
  constructor(
    readonly conflicts: readonly Conflict[],
    /** As it is now. */
    readonly current: object,
  ) {
    super('Someone else changed this while you were editing.');
  }
}

interface Answer<T> {
  readonly headers: { get(name: string): string | null };
  json(): Promise<T>;
}

export interface Saving<Shown, T> {
  /** As it was when the form was filled. */
  readonly opened: object;
  /** Fields that were changed. */
  readonly changes: object;
  readonly read: () => Promise<Answer<Shown>>;
  /** Writes on condition that it is still as read. */
  readonly write: (options: { headers: Record<string, string> }, current: Shown) => Promise<Answer<T>>;
  /** As fields of the form, where those are others. */
  readonly asFields?: (shown: Shown) => object;
}

/** Somebody who saves in the very moment between reading and writing makes it begin again. */
const MAX_TRIES = 3;

export async function saveChanges<Shown extends object, T>(saving: Saving<Shown, T>): Promise<T> {
  const { opened, changes, read, write, asFields = (shown: Shown) => shown } = saving;
  for (let tries = 1; ; tries++) {
    const answer = await read();
    const current = await answer.json();
    const conflicts = findConflicts(opened as Fields, asFields(current) as Fields, changes as Fields);
    if (conflicts.length > 0) throw new ChangedMeanwhile(conflicts, asFields(current));
    const tag = answer.headers.get('etag');
    try {
      return await (await write({ headers: tag === null ? {} : { 'If-Match': tag } }, current)).json();
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 412 || tries === MAX_TRIES) throw error;
    }
  }
}

export const findConflicts = (opened: Fields, current: Fields, changes: Fields): Conflict[] =>
  Object.entries(changes)
    .map(([name, mine]) => ({ name, mine, theirs: current[name] }))
    .filter(({ name, mine, theirs }) => !isSame(theirs, opened[name]) && !isSame(theirs, mine));

/** Money is text here and a number there; what is missing is null; instants are written in several ways. */
export function isSame(one: unknown, other: unknown): boolean {
  if (typeof one === 'number' || typeof other === 'number') {
    return one !== null && other !== null && one !== undefined && other !== undefined && Number(one) === Number(other);
  }
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
}
