import { UNNAMED } from './prepare-series';
import { colorBook } from './series-colors';

/** A name with the colour it has in every chart. */
export function SeriesName({ name, label = name }: { readonly name: string; readonly label?: string }) {
  return (
    <span className="inline-flex max-w-full items-center gap-2" title={label}>
      <span className="size-2 shrink-0 rounded-[2px]" style={{ background: colorBook.colorOf(name) }} />
      <span className="truncate">{name === '' ? UNNAMED : label}</span>
    </span>
  );
}
