import type { TimeZoneChoice } from '../format/format-time';

const KEY = 'llm0-time-zone';

/** Another tab may choose its own: a page keeps the zone with which it was loaded. */
let kept = load();

/** The zone that this browser chose last, if it is not UTC. */
export const keptZone = (): TimeZoneChoice | undefined => kept;

export function keepZone(zone: TimeZoneChoice | undefined): void {
  kept = zone === 'local' ? zone : undefined;
  try {
    if (kept === undefined) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, kept);
  } catch {
    // Without a storage the choice holds until the page is left.
  }
}

function load(): TimeZoneChoice | undefined {
  try {
    return localStorage.getItem(KEY) === 'local' ? 'local' : undefined;
  } catch {
    return undefined;
  }
}
