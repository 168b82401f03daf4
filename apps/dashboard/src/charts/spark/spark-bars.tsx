import { prepareSpark, SPARK } from './prepare-spark';

interface Props {
  readonly values: readonly number[];
  /** Parts of the values in red, such as failures. */
  readonly marked?: readonly number[];
  /** The picture in words. */
  readonly label: string;
}

const SOLID = 'forced-colors:fill-[CanvasText]';

/** Values over time in a cell of a table; the last, unfinished one is pale. */
export function SparkBars({ values, marked, label }: Props) {
  const { bars, last, marks } = prepareSpark({ values, marked });
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${SPARK.width} ${SPARK.height + 1}`}
      width={SPARK.width}
      height={SPARK.height + 1}
      className="inline-block align-middle"
    >
      <title>{label}</title>
      <path d={`M0 ${SPARK.height + 0.5}H${SPARK.width}`} className="stroke-line-strong" />
      <path d={bars} className={`fill-accent ${SOLID}`} />
      <path d={last} className={`fill-accent opacity-50 ${SOLID}`} />
      <path d={marks} className={`fill-bad ${SOLID}`} />
    </svg>
  );
}
