import type { TimeZoneChoice } from '../format/format-time';
import type { Unit } from '../format/units';
import type { ChartData } from './prepare-series';

export interface TimeChartProps {
  readonly data: ChartData;
  /** `stacked`: layers on top of each other; `line`: gaps stay gaps. */
  readonly kind: 'line' | 'stacked';
  /** What is counted or measured. */
  readonly unit: Unit;
  readonly timeZone: TimeZoneChoice;
  readonly intervalMs: number;
  /** What it shows, for those who do not see it. */
  readonly label: string;
  readonly height: number;
  /** A horizontal line, such as a cap. */
  readonly limit?: number;
  readonly onSelect?: (startMs: number, seriesName: string | null) => void;
}
