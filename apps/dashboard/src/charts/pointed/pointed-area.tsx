import { type ReactNode, useId } from 'react';
import { partAt } from './part-at';
import { type Pointing, usePointed } from './use-pointed';

interface Props<Part> {
  readonly label: string;
  readonly parts: readonly Part[];
  /** Index of the part under the pointer; null for none. Absent = parts of the same width, beside each other. */
  readonly indexUnder?: (event: Pointing) => number | null;
  readonly describe: (part: Part, index: number) => string;
  readonly onChoose: (part: Part, index: number) => void;
  /** What Enter shows. */
  readonly shows?: string;
  readonly className?: string;
  /** Drawn for the part that is pointed at. */
  readonly children: (part: Part, index: number) => ReactNode;
}

/** Lies over a picture: its parts by pointer and arrow keys. A click, a second touch or Enter chooses one. */
export function PointedArea<Part>(props: Props<Part>) {
  const {
    label,
    parts,
    indexUnder,
    describe,
    onChoose,
    shows = 'the requests',
    className = 'inset-0',
    children,
  } = props;
  const hintId = useId();
  const { isShown, index, handlers } = usePointed({
    count: parts.length,
    indexUnder: indexUnder ?? ((event) => partUnder(event, parts.length)),
    onChoose: (chosen) => {
      const part = parts[chosen];
      if (part !== undefined) onChoose(part, chosen);
    },
  });
  const part = parts[index];
  return (
    <>
      {isShown && part !== undefined && children(part, index)}
      <div
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-orientation={indexUnder === undefined ? 'horizontal' : undefined}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, parts.length - 1)}
        aria-valuenow={Math.max(0, index)}
        aria-valuetext={part === undefined ? '' : describe(part, index)}
        aria-describedby={hintId}
        className={`absolute cursor-pointer rounded-sm ${className}`}
        {...handlers}
      />
      <span id={hintId} className="sr-only">
        Use the arrow keys to move. Press Enter to see {shows}.
      </span>
    </>
  );
}

function partUnder({ clientX, currentTarget }: Pointing, count: number): number {
  const { left, width } = currentTarget.getBoundingClientRect();
  return partAt((clientX - left) / width, count);
}
