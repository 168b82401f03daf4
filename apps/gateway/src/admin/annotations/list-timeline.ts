import type { Db } from '@llm0/drizzle/client';
import type { StoredAuditEntry } from '@llm0/drizzle/queries/access/audit-trail';
import { type Happening, listChanges, listHappened, listStarts } from '@llm0/drizzle/queries/annotations';
import type { StoredSystemLog } from '@llm0/drizzle/queries/logs/system-logs';
import { showInstant } from '../fields/show-fields';
import { DESCRIBED, describeChange } from './describe-change';
import { showAnnotation, type TimelineEvent } from './schema';

/** Maximum for each kind of source: charts can't show more. */
export const MOST = 200;
/** Processes that start together are one start. */
const TOGETHER_MS = 60_000;

/** Annotations, changes of keys, limits and routes, and starts in a range; newest first. */
export async function listTimeline(db: Db, stretch: Happening): Promise<readonly TimelineEvent[]> {
  const [told, changes, starts] = await Promise.all([
    listHappened(db, stretch, MOST),
    listChanges(db, stretch, { resources: DESCRIBED, limit: MOST }),
    listStarts(db, stretch, MOST),
  ]);
  const events = [
    ...told.map((one): TimelineEvent => {
      const { id, at, kind, text, project_id, actor } = showAnnotation(one);
      return { id, at, kind, text, project_id, actor, source: 'annotation' };
    }),
    ...changes.flatMap(eventOfChange),
    ...eventsOfStarts(starts),
  ];
  return events.sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
}

function eventOfChange({ beforeJson, afterJson, ...entry }: StoredAuditEntry): TimelineEvent[] {
  const parse = (json: string | null): unknown => (json === null ? null : JSON.parse(json));
  const [before, after] = [parse(beforeJson), parse(afterJson)];
  const described = describeChange({ ...entry, before, after });
  if (described === null) return [];
  const at = showInstant(entry.createdAtMs);
  return [{ ...described, id: entry.id, at, actor: entry.actor, source: 'audit', project_id: null }];
}

/** Newest first in, as out: of those that follow each other closely the first one counts. */
function eventsOfStarts(starts: readonly StoredSystemLog[]): TimelineEvent[] {
  return starts
    .filter(({ createdAtMs }, index) => createdAtMs - (starts[index + 1]?.createdAtMs ?? 0) > TOGETHER_MS)
    .map(({ id, createdAtMs, message }) => ({
      ...{ id, at: showInstant(createdAtMs), kind: 'start', text: message },
      ...{ actor: null, source: 'gateway', project_id: null },
    }));
}
