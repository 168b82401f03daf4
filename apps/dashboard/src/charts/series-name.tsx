import { UNNAMED } from './prepare-series';
import { colorOf } from './series-colors';

interface Props {
  readonly name: string;
  readonly label?: string;
  /** The one it has by itself, unless it is shown among others. */
  readonly color?: string;
}

/** A name with the colour it has in every chart. */
export function SeriesName({ name, label = name, color = colorOf(name) }: Props) {
  return (
    <span className="inline-flex max-w-full items-center gap-2" title={label}>
      <span className="size-2 shrink-0 rounded-[2px]" style={{ background: color }} />
      <span className="truncate">{name === '' ? UNNAMED : label}</span>
    </span>
  );
}
