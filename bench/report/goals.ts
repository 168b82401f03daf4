import { answeredPercent, DIRECT, FLOOR, findRow, GATEWAY, latencyOf, peakMibOf, type Row, ratioTo } from './rows';

/** A figure of the gateway, beside what it has to be. */
export interface JudgedGoal {
  readonly scenario: string;
  readonly what: string;
  readonly value: string;
  readonly must: string;
  readonly aim: string;
  readonly isMet: boolean;
}

interface Goal {
  /** By name, without the rate's label. */
  readonly scenario: string;
  readonly what: string;
  readonly unit: '×' | ' MiB' | ' %' | ' MiB/h';
  readonly bound: 'at least' | 'at most';
  readonly must: number;
  readonly aim?: number;
  /** Latencies count at 10 connections alone. */
  readonly onlyAtTen?: true;
  /** undefined where the run has not what it takes. */
  measure(row: Row, rows: readonly Row[]): number | undefined;
}

const toFloor = (row: Row, rows: readonly Row[]) => ratioTo(row, findRow(rows, row, { target: FLOOR })) ?? undefined;
const toScenario = (scenario: string) => (row: Row, rows: readonly Row[]) =>
  ratioTo(row, findRow(rows, row, { scenario })) ?? undefined;
const timesFloor = (name: 'p50' | 'p99') => (row: Row, rows: readonly Row[]) => {
  const floor = findRow(rows, row, { target: FLOOR });
  return floor === undefined ? undefined : latencyOf(row, name) / latencyOf(floor, name);
};
/** What it adds to the upstream's own time, against what the floor adds. */
const addedTimes = (name: 'p50' | 'p99') => (row: Row, rows: readonly Row[]) => {
  const [direct, floor] = [DIRECT, FLOOR].map((target) => findRow(rows, row, { target }));
  if (direct === undefined || floor === undefined) return undefined;
  const least = latencyOf(direct, name);
  return (latencyOf(row, name) - least) / (latencyOf(floor, name) - least);
};
/** What the 95 % interval begins with: above 0 memory grows beyond doubt. */
const leastSlope = ({ slope }: Row) => slope && slope.mibPerHour - slope.marginMibPerHour;

const least = { unit: '×', bound: 'at least' } as const;
const most = { bound: 'at most' } as const;
const times = { ...most, unit: '×', onlyAtTen: true } as const;
const FLOOR_RATIO = 'req/s, of the floor';
const SUSTAINED = 'sustained 2,000';
const FIXED = 'sustained 500';
const SLOPE = 'slope of memory, least likely';

const GOALS: readonly Goal[] = [
  { ...least, scenario: 'hit', what: FLOOR_RATIO, must: 0.8, aim: 1.1, measure: toFloor },
  { ...least, scenario: 'miss', what: FLOOR_RATIO, must: 0.48, aim: 0.57, measure: toFloor },
  { ...times, scenario: 'miss', what: "p50, of the floor's", must: 2.6, aim: 1.8, measure: timesFloor('p50') },
  { ...times, scenario: 'miss', what: "p99, of the floor's", must: 3, aim: 1.6, measure: timesFloor('p99') },
  { ...least, scenario: 'miss-uncached', what: FLOOR_RATIO, must: 0.48, aim: 0.57, measure: toFloor },
  { ...least, scenario: 'stream', what: 'streams/s, of the floor', must: 0.6, aim: 0.85, measure: toFloor },
  { ...least, scenario: 'denied', what: 'req/s, of hit', must: 0.9, measure: toScenario('hit') },
  { ...least, scenario: 'anthropic-miss', what: 'req/s, of miss', must: 0.65, aim: 0.8, measure: toScenario('miss') },
  { ...least, scenario: 'messages-miss', what: 'req/s, of miss', must: 0.9, measure: toScenario('miss') },
  { ...least, scenario: 'messages-openai', what: 'req/s, of miss', must: 0.65, measure: toScenario('miss') },
  { ...least, scenario: 'responses-miss', what: 'req/s, of miss', must: 0.9, measure: toScenario('miss') },
  { ...least, scenario: 'responses-claude', what: 'req/s, of miss', must: 0.65, measure: toScenario('miss') },
  { ...least, scenario: 'embeddings-hit', what: 'req/s, of hit', must: 0.9, measure: toScenario('hit') },
  { ...least, scenario: 'image', what: 'req/s, of miss-uncached', must: 0.77, measure: toScenario('miss-uncached') },
  { ...least, scenario: 'speech', what: 'req/s, of miss-uncached', must: 0.77, measure: toScenario('miss-uncached') },
  { ...least, scenario: 'infer-cached', what: FLOOR_RATIO, must: 1.2, measure: toFloor },
  { ...least, scenario: 'infer-miss', what: FLOOR_RATIO, must: 0.6, measure: toFloor },
  { ...least, unit: ' %', scenario: SUSTAINED, what: 'answered as expected', must: 100, measure: answeredPercent },
  { ...times, scenario: FIXED, what: "added p50, of the floor's", must: 3, aim: 2, measure: addedTimes('p50') },
  { ...times, scenario: FIXED, what: "added p99, of the floor's", must: 4, aim: 2, measure: addedTimes('p99') },
  { ...most, unit: ' MiB', scenario: 'endurance', what: 'peak memory', must: 120, aim: 90, measure: peakMibOf },
  { ...most, unit: ' MiB/h', scenario: 'endurance', what: SLOPE, must: 0, measure: leastSlope },
];

/** All goals that this run can tell about, of the gateway's rows. */
export function judgeGoals(rows: readonly Row[]): readonly JudgedGoal[] {
  return rows
    .filter(({ target }) => target === GATEWAY)
    .flatMap((row) =>
      GOALS.filter(({ scenario }) => scenario === row.scenario).flatMap((goal) => judge(goal, row, rows)),
    );
}

function judge(goal: Goal, row: Row, rows: readonly Row[]): readonly JudgedGoal[] {
  if (goal.onlyAtTen && row.connections !== 10) return [];
  const value = goal.measure(row, rows);
  if (value === undefined || Number.isNaN(value)) return [];
  const { what, unit, bound, must, aim } = goal;
  const sign = bound === 'at least' ? '≥' : '≤';
  const write = (figure: number) => `${Number(figure.toFixed(3))}${unit}`;
  return [
    {
      scenario: row.rate === undefined ? `${row.scenario}, ${row.connections} connections` : row.scenario,
      what,
      value: write(value),
      must: `${sign} ${write(must)}`,
      aim: aim === undefined ? '' : `${sign} ${write(aim)}`,
      isMet: bound === 'at least' ? value >= must : value <= must,
    },
  ];
}
