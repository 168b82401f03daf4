import type { TimeZoneChoice } from '../format/format-time';
import type { Unit } from '../format/units';
import type { ChartMark } from './prepare-marks';
import type { ChartData } from './prepare-series';

export interface TimeChartProps {
  readonly data: ChartData;
  /** Data of the previous period by bucket; drawn faintly, with values in the tool-tip. */
  readonly previous?: ChartData;
  /** `stacked`: layers on top of each other; `line`: gaps stay gaps. */
  readonly kind: 'line' | 'stacked';
  /** Counted or measured value. */
  readonly unit: Unit;
  readonly timeZone: TimeZoneChoice;
  readonly intervalMs: number;
  readonly title: string;
  /** Text alternative. */
  readonly label: string;
  readonly height: number;
  /** Marks of events: thin lines, with a text in the tool-tip. */
  readonly marks?: readonly ChartMark[];
  /** A horizontal line, such as a cap. */
  readonly limit?: number;
  /** A drag, or a selection by keyboard, asks for a part of it: whole buckets, epoch milliseconds, the end exclusive. */
  readonly onZoom?: (fromMs: number, toMs: number) => void;
  /** What a selection opens, such as `the slowest requests`. */
  readonly opens?: string;
  /** True for a series with requests of its own, which a click on it opens. */
  readonly hasOwn?: (seriesName: string) => boolean;
  /** A click, a second touch or Enter asks for one bucket. */
  readonly onSelect?: (startMs: number, seriesName: string | null) => void;
}
