/** A thing with two measures and a size. */
export interface BubblePoint {
  readonly name: string;
  readonly x: number;
  readonly y: number;
  readonly size: number;
}

/** A circle: its place in percent from the left and the top, its radius in pixels. */
export interface Bubble {
  readonly name: string;
  readonly left: number;
  readonly top: number;
  readonly radius: number;
  /** Side of its name; null if there is no room for it. */
  readonly nameAt: (typeof SIDES)[number] | null;
}

export interface AxisTick {
  readonly value: number;
  /** Share (0…1) of the axis. */
  readonly at: number;
}

export interface BubbleChart {
  /** The largest first, so that the small ones are drawn over them. */
  readonly bubbles: readonly Bubble[];
  readonly xTicks: readonly AxisTick[];
  readonly yTicks: readonly AxisTick[];
}

const POWERS = Array.from({ length: 19 }, (_, index) => index - 9);
/** 1, 2, 5, 10 … from a billionth to billions. */
const STEPS = POWERS.flatMap((power) => [1, 2, 5].map((digit) => Number(`${digit}e${power}`)));
const MOST_TICKS = 6;
/** Share of the axis that zero takes, which a logarithm lacks. */
const ZERO_ROOM = 0.08;

interface LogScale {
  /** Share (0…1) of the axis. */
  readonly at: (value: number) => number;
  readonly ticks: readonly AxisTick[];
}

/** A logarithmic axis between two round values around all others; zero is at its start. `room` (0…1) is free at both ends. */
export function prepareLogScale(values: readonly number[], room = 0): LogScale {
  const positive = values.filter((value) => value > 0);
  const hasZero = positive.length < values.length;
  const least = Math.min(...positive, Number.POSITIVE_INFINITY);
  const most = Math.max(...positive, 0);
  const low = STEPS.findLast((step) => step < least && least < Number.POSITIVE_INFINITY) ?? 1;
  const high = STEPS.find((step) => step > most && step > low) ?? low * 10;
  const start = hasZero ? ZERO_ROOM : 0;
  const within = (share: number) => room + (1 - 2 * room) * share;
  const at = (value: number) => within(placeOf(value));
  const placeOf = (value: number) =>
    value <= 0 ? 0 : start + (1 - start) * Math.min(1, Math.max(0, Math.log(value / low) / Math.log(high / low)));
  const ticks = thinned(STEPS.filter((step) => step >= low && step <= high));
  return { at, ticks: [...(hasZero ? [0] : []), ...ticks].map((value) => ({ value, at: at(value) })) };
}

/** Few enough steps to be read, evenly apart. */
function thinned(steps: readonly number[]): readonly number[] {
  if (steps.length <= MOST_TICKS) return steps;
  const tens = steps.filter((step) => Number.isInteger(Math.round(Math.log10(step) * 1e6) / 1e6));
  const every = Math.ceil(tens.length / MOST_TICKS);
  return tens.filter((_, index) => index % every === 0);
}

const RADIUS = { least: 5, most: 28 } as const;
/** Least size of a chart, on a phone, in pixels: the largest circle at its edge stays within it. */
const LEAST = { width: 280, height: 240 } as const;
const ROOM = { x: RADIUS.most / LEAST.width, y: RADIUS.most / LEAST.height } as const;

/** Areas are proportional to sizes, down to a circle that one can still point at. */
export function prepareBubbles(points: readonly BubblePoint[]): BubbleChart {
  const x = prepareLogScale(
    points.map((point) => point.x),
    ROOM.x,
  );
  const y = prepareLogScale(
    points.map((point) => point.y),
    ROOM.y,
  );
  const largest = Math.max(...points.map(({ size }) => size), Number.MIN_VALUE);
  const placed = points
    .toSorted((a, b) => b.size - a.size || (a.name < b.name ? -1 : 1))
    .map((point) => ({
      name: point.name,
      left: x.at(point.x) * 100,
      top: (1 - y.at(point.y)) * 100,
      radius: Math.max(RADIUS.least, RADIUS.most * Math.sqrt(Math.max(0, point.size) / largest)),
    }));
  return { bubbles: withNames(placed), xTicks: x.ticks, yTicks: y.ticks };
}

/** Least size of a chart with names, in pixels; a larger one only has more room. */
const NAMED = { width: 720, height: 240 } as const;
const LETTER_PX = 6.5;
const LINE_PX = 14;
const GAP_PX = 4;

type Placed = Omit<Bubble, 'nameAt'>;
const SIDES = ['right', 'left', 'above', 'below'] as const;

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
}

/**
 * Names beside the circles, above or below them, those of the largest first, where none covers another or a circle. The
 * largest has its name in any case, over other circles if need be.
 */
function withNames(placed: readonly Placed[]): Bubble[] {
  const taken: Box[] = [];
  const centerOf = ({ left, top }: Placed) => [(left / 100) * NAMED.width, (top / 100) * NAMED.height] as const;
  const isWithin = ({ left, right, top }: Box) => left >= 0 && top >= 0 && right <= NAMED.width && top <= NAMED.height;
  const isFree = (box: Box, own: Placed) => isWithin(box) && isClear(box, own);
  const isClear = ({ left, right, top }: Box, own: Placed) =>
    taken.every((box) => right < box.left || left > box.right || Math.abs(top - box.top) >= LINE_PX) &&
    placed.every((other) => {
      const [cx, cy] = centerOf(other);
      const { radius } = other;
      return other === own || right < cx - radius || left > cx + radius || Math.abs(top - cy) >= radius + LINE_PX / 2;
    });
  return placed.map((bubble, index): Bubble => {
    const width = bubble.name.length * LETTER_PX;
    const [cx, top] = centerOf(bubble);
    const edge = bubble.radius + GAP_PX;
    const boxes = {
      right: { left: cx + edge, right: cx + edge + width, top },
      left: { left: cx - edge - width, right: cx - edge, top },
      // Ends where its circle does.
      above: { left: cx + bubble.radius - width, right: cx + bubble.radius, top: top - edge - LINE_PX / 2 },
      below: { left: cx + bubble.radius - width, right: cx + bubble.radius, top: top + edge + LINE_PX / 2 },
    } as const;
    const free = SIDES.find((side) => isFree(boxes[side], bubble));
    const nameAt = free ?? (index === 0 ? (SIDES.find((side) => isWithin(boxes[side])) ?? null) : null);
    if (nameAt !== null) taken.push(boxes[nameAt]);
    return { ...bubble, nameAt };
  });
}

interface Pointer {
  /** Pixels from the left and the top of the chart. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Room around a circle that belongs to it. */
const NEAR_PX = 4;

/** Index of the bubble under a pointer, the topmost (smallest) one; null for none. */
export function bubbleAt(bubbles: readonly Bubble[], { x, y, width, height }: Pointer): number | null {
  const index = bubbles.findLastIndex(({ left, top, radius }) => {
    const distance = Math.hypot(x - (left / 100) * width, y - (top / 100) * height);
    return distance <= radius + NEAR_PX;
  });
  return index < 0 ? null : index;
}
