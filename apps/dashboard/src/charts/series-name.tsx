import { WRAPPED_NAME } from '../ui/name';
import { UNNAMED } from './prepare-series';
import { colorOf } from './series-colors';

interface Props {
  readonly name: string;
  readonly label?: string;
  /** The one it has by itself, unless it is shown among others. */
  readonly color?: string;
  /** In two lines on a phone, without its color: names that begin alike would look the same. */
  readonly wraps?: true;
}

/** A name with the colour it has in every chart. */
export function SeriesName({ name, label = name, color = colorOf(name), wraps }: Props) {
  return (
    <span className="inline-flex max-w-full items-center gap-2" title={label}>
      <span className={`size-2 shrink-0 rounded-[2px] ${wraps ? 'max-sm:hidden' : ''}`} style={{ background: color }} />
      <span className={`truncate ${wraps ? `max-sm:text-2xs ${WRAPPED_NAME}` : ''}`}>
        {name === '' ? UNNAMED : label}
      </span>
    </span>
  );
}
