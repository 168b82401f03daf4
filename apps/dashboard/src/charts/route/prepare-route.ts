/** A stop of a route. */
export interface RouteStep {
  readonly name: string;
  /** Text on its arrow from the start, such as `75 %`; null: only earlier stops lead here. */
  readonly label: string | null;
  /** Share (0…1) of the requests that begin here; null if unknown. */
  readonly share: number | null;
  /** Not set up: requests pass it by. */
  readonly isSkipped: boolean;
  /** Without a price: requests under a cap pass it by. */
  readonly isUnpriced?: boolean;
}

export interface Route {
  readonly start: string;
  readonly steps: readonly RouteStep[];
  /** A stop that fails leads to the next one; otherwise to the end. */
  readonly goesOn: boolean;
  /** The start is itself a stop that fails. */
  readonly startFails?: boolean;
  readonly end: string;
}

export interface RouteNode {
  readonly key: string;
  readonly kind: 'start' | 'step' | 'end';
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Shortened to its room. */
  readonly text: string;
  readonly name: string;
  readonly isSkipped: boolean;
  readonly isUnpriced: boolean;
}

export interface RouteEdge {
  readonly key: string;
  /** `fails`: taken after a failure. */
  readonly kind: 'begins' | 'fails';
  readonly path: string;
  /** Arrow head. */
  readonly head: string;
  readonly width: number;
  readonly label: { readonly x: number; readonly y: number; readonly text: string } | null;
}

/** Everything in units of the drawing, which is `ROUTE_WIDTH` wide. */
export interface RoutePicture {
  readonly height: number;
  readonly nodes: readonly RouteNode[];
  readonly edges: readonly RouteEdge[];
}

export const ROUTE_WIDTH = 320;
const END = { x: 0, width: ROUTE_WIDTH, height: 28 } as const;
const STEP = { x: 78, width: 226, height: 34 } as const;
const FIRST_GAP = 22;
const PITCH = 60;
const TRUNK = 16;
/** Middle of the arrows between stops, and the rail on their right. */
const DOWN = STEP.x + STEP.width / 2;
const RAIL = 313;
const HEAD = 6;
const ROUND = 6;
const WIDTHS = { least: 1.5, most: 8 } as const;
const LETTER = 6.3;
const PADDING = 20;
/** Room of `no price` within a stop. */
export const NO_PRICE_WIDTH = 54;

const topOf = (index: number) => END.height + FIRST_GAP + index * PITCH;
const middleOf = (index: number) => topOf(index) + STEP.height / 2;

/** A route from top to bottom: the start, its stops in order, and what happens when all of them fail. */
export function prepareRoute(route: Route): RoutePicture {
  const { start, steps, end } = route;
  const endY = topOf(steps.length) - (steps.length === 0 ? 0 : PITCH - STEP.height - FIRST_GAP);
  const box = (key: 'start' | 'end', name: string, y: number): RouteNode => ({
    ...{ key, kind: key, ...END, y, name, text: shorten(name, END.width), isSkipped: false, isUnpriced: false },
  });
  const stops = steps.map(
    ({ name, isSkipped, isUnpriced = false }, index): RouteNode => ({
      ...{ key: `${index} ${name}`, kind: 'step', ...STEP, y: topOf(index), name, isSkipped, isUnpriced },
      text: shorten(`${index + 1}  ${name}`, STEP.width - (isUnpriced ? NO_PRICE_WIDTH : 0)),
    }),
  );
  return {
    height: endY + END.height,
    nodes: [box('start', start, 0), ...stops, box('end', end, endY)],
    edges: [...beginnings(route), ...failures(route, endY)],
  };
}

const shorten = (text: string, width: number): string => {
  const most = Math.floor((width - PADDING) / LETTER);
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
};

/** From the start to the stops where requests begin, as wide as their share; the widest below the others. */
function beginnings({ steps, startFails = false }: Route): RouteEdge[] {
  return steps
    .flatMap(({ label, share }, index): RouteEdge[] => {
      if (label === null) return [];
      const y = middleOf(index);
      return [
        {
          key: `begins ${index}`,
          kind: startFails ? 'fails' : 'begins',
          path: `M${TRUNK} ${END.height}V${y - ROUND}Q${TRUNK} ${y} ${TRUNK + ROUND} ${y}H${STEP.x - HEAD}`,
          head: `M${STEP.x - HEAD} ${y - HEAD}l${HEAD} ${HEAD}l${-HEAD} ${HEAD}z`,
          width: share === null ? WIDTHS.least : Math.max(WIDTHS.least, WIDTHS.most * Math.min(1, share)),
          label: { x: TRUNK + ROUND + 3, y: y - 7, text: label },
        },
      ];
    })
    .sort((a, b) => b.width - a.width);
}

const down = (x: number, y: number) => `M${x - HEAD} ${y - HEAD}h${2 * HEAD}l${-HEAD} ${HEAD}z`;

/** From each stop to the next, or along the rail to the end. */
function failures({ steps, goesOn }: Route, endY: number): RouteEdge[] {
  if (steps.length === 0) {
    const path = `M${ROUTE_WIDTH / 2} ${END.height}V${endY - HEAD}`;
    return [{ ...FAILS, key: 'fails', path, head: down(ROUTE_WIDTH / 2, endY), label: null }];
  }
  return steps.map((_, index): RouteEdge => {
    const bottom = topOf(index) + STEP.height;
    const isLast = index === steps.length - 1;
    if (goesOn || isLast) {
      const to = isLast ? endY : topOf(index + 1);
      const label = { x: DOWN + 10, y: (bottom + to) / 2 + 3, text: 'if it fails' };
      return { ...FAILS, key: `fails ${index}`, path: `M${DOWN} ${bottom}V${to - HEAD}`, head: down(DOWN, to), label };
    }
    const [y, right] = [middleOf(index), STEP.x + STEP.width];
    const path = `M${right} ${y}H${RAIL - ROUND}Q${RAIL} ${y} ${RAIL} ${y + ROUND}V${endY - HEAD}`;
    return { ...FAILS, key: `fails ${index}`, path, head: down(RAIL, endY), label: null };
  });
}

const FAILS = { kind: 'fails', width: WIDTHS.least } as const;

/** The picture in words: each stop, the requests that begin there, and where a failure leads. */
export const cellsOf = ({ steps, goesOn, startFails, end }: Route): readonly (readonly string[])[] =>
  steps.map(({ name, label, isSkipped, isUnpriced }, index) => [
    `${index + 1}. ${name}${isSkipped ? ' (not set up: skipped)' : ''}${isUnpriced ? ' (no price: skipped under a cap)' : ''}`,
    startFails ? 'none' : (label ?? 'none'),
    (goesOn ? steps[index + 1]?.name : undefined) ?? end,
  ]);
