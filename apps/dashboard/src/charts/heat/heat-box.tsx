import { type Place, PlaceLink } from '../../ui/place-link';
import { shadeOf } from './prepare-heat';
import type { GridStop } from './use-grid';

export interface HeatCell {
  /** Drawn in the cell. */
  readonly text: string;
  /** The cell in words. */
  readonly title: string;
  readonly amount: number;
  /** Small text in front, such as the number of a day. */
  readonly corner?: string;
  /** Null where no filter says what is behind it. */
  readonly link: Place | null;
  /** A total has no shade. */
  readonly isTotal?: boolean;
}

interface Props {
  readonly cell: HeatCell | null;
  /** Amount of the darkest cell. */
  readonly most: number;
  readonly stop: GridStop;
  readonly onPointed: (cell: HeatCell | null) => void;
}

const BOX = 'flex overflow-hidden rounded-sm px-1 text-2xs sm:px-1.5 sm:text-xs';
/** With a corner, two lines. */
const LINES = {
  one: 'h-7 items-center justify-end',
  two: 'h-9 flex-col justify-center leading-tight',
} as const;

/** A shaded amount, which leads to what is behind it. */
export function HeatBox({ cell, most, stop, onPointed }: Props) {
  if (cell === null) return null;
  const { amount, corner, link, isTotal = false } = cell;
  const shade = isTotal ? 0 : shadeOf(amount, most);
  const shared = {
    className: `${BOX} ${corner === undefined ? LINES.one : LINES.two}`,
    style: shade === 0 ? undefined : { background: `color-mix(in srgb, var(--c-accent) ${shade}%, transparent)` },
    onPointerEnter: () => onPointed(cell),
    onPointerLeave: () => onPointed(null),
  };
  if (link === null) {
    return (
      <div {...shared}>
        <Content {...cell} />
      </div>
    );
  }
  const onFocus = () => {
    stop.onFocus();
    onPointed(cell);
  };
  return (
    <PlaceLink
      {...link}
      {...stop}
      {...shared}
      className={`${shared.className} hover:outline hover:outline-text`}
      onFocus={onFocus}
      onBlur={() => onPointed(null)}
    >
      <Content {...cell} />
    </PlaceLink>
  );
}

const Content = ({ text, title, corner, isTotal }: HeatCell) => (
  <>
    {corner !== undefined && (
      <span aria-hidden="true" className="text-2xs">
        {corner}
      </span>
    )}
    <span
      aria-hidden="true"
      className={`nums max-w-full truncate ${isTotal ? 'font-medium' : ''} ${corner === undefined ? '' : 'self-end'}`}
    >
      {text}
    </span>
    <span className="sr-only">{title}</span>
  </>
);
