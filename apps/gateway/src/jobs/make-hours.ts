const HOURS_A_RUN = 12;
/** After that long the next hour is left to the next run: a busy one takes seconds, and a core of Postgres with it. */
const RUN_MS = 1000;

/** Makes hours one after the other, as many as take a second; `make` makes the latest. Returns their names, latest first. */
export async function makeHoursOfRun(make: () => Promise<readonly number[]>): Promise<readonly string[]> {
  const endMs = performance.now() + RUN_MS;
  const hours: string[] = [];
  while (hours.length < HOURS_A_RUN && performance.now() < endMs) {
    const [startMs] = await make();
    if (startMs === undefined) break;
    hours.push(`${new Date(startMs).toISOString().slice(0, 13)}:00Z`);
  }
  return hours;
}
