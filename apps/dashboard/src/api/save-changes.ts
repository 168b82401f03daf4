// Preserves others' changes: sends only changed fields with a fresh entity tag. If another user changed the same field,
// throws `ChangedMeanwhile` with both values.
import { ApiError } from './client';

type Fields = Readonly<Record<string, unknown>>;

export interface Conflict {
  readonly name: string;
  readonly mine: unknown;
  readonly theirs: unknown;
}

/** Fields that this user and another one changed to different values. */
export class ChangedMeanwhile extends Error {
  constructor(
    readonly conflicts: readonly Conflict[],
    /** Current state. */
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
  /** State when the form opened. */
  readonly opened: object;
  /** Fields that were changed. */
  readonly changes: object;
  readonly read: () => Promise<Answer<Shown>>;
  /** Writes on condition that it is still as read. */
  readonly write: (options: { headers: Record<string, string> }, current: Shown) => Promise<Answer<T>>;
  /** Converts to form fields, if those differ. */
  readonly asFields?: (shown: Shown) => object;
}

/** A concurrent save between read and write restarts it. */
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

/** Compares form and API values: money is text or number, missing is null, instants have several spellings. */
export function isSame(one: unknown, other: unknown): boolean {
  if (typeof one === 'number' || typeof other === 'number') {
    return one !== null && other !== null && one !== undefined && other !== undefined && Number(one) === Number(other);
  }
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
}
