import type { KeyboardEvent, MouseEvent, ReactNode } from 'react';
import { type Place, PlaceLink } from '../place-link';
import { type AmountFormat, type Column, drawCell, isRight } from './column';

/** A place of a row in a long list, with its address worked out. */
export interface RowAnchor {
  readonly href: string;
  readonly isOpen: boolean;
  readonly onOpen: () => void;
}

const HIDDEN = {
  ...{ false: '', true: 'max-md:hidden', very: 'max-xl:hidden' },
  ...{ more: 'max-[87.5rem]:hidden', most: 'max-2xl:hidden' },
} as const;
export const SIZES = {
  normal: {
    text: 'text-sm',
    padding: 'px-2 sm:px-3',
    height: 'h-9 max-md:h-10',
    widths: 'max-sm:max-w-28',
    width: 'max-w-72',
  },
  dense: {
    text: 'text-xs',
    padding: 'px-1.5 sm:px-2',
    height: 'h-[29px] max-md:h-10',
    widths: 'max-sm:max-w-21',
    width: 'max-w-52',
  },
} as const;
export type Size = (typeof SIZES)[keyof typeof SIZES];

export const alignOf = <T,>(column: Column<T>) =>
  `${isRight(column) ? 'text-right nums' : 'text-left'} ${HIDDEN[`${column.wideOnly ?? false}`]}`;

interface LoadingProps<T> {
  readonly count: number;
  readonly columns: readonly Column<T>[];
  readonly size: Size;
}

export function LoadingRows<T>({ count, columns, size }: LoadingProps<T>) {
  return Array.from({ length: count }, (_, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: place holders have nothing else
    <tr key={index} className={`${size.height} border-b last:border-0`}>
      {columns.map((column) => (
        <td key={column.header} className={`${size.padding} ${alignOf(column)}`}>
          <div className="h-3 rounded bg-hover" />
        </td>
      ))}
    </tr>
  ));
}

interface RowProps<T> {
  readonly row: T;
  readonly columns: readonly Column<T>[];
  /** See `columnAmounts`. */
  readonly amounts: readonly (AmountFormat | undefined)[];
  readonly size: Size;
  readonly onRow: ((row: T) => void) | undefined;
  readonly link: Place | RowAnchor | undefined;
  readonly lead: ReactNode;
  /** Its place among all rows, where not all are drawn. */
  readonly rowIndex: number | undefined;
}

const widthOf = <T,>({ wraps, narrow }: Column<T>, { widths, width }: Size) =>
  wraps ? 'min-w-32 py-1.5 wrap-anywhere sm:min-w-40' : `truncate ${widths} ${narrow ? 'max-w-32' : width}`;

const HEAD = '-outline-offset-2! block max-w-full rounded text-left';
const headOf = <T,>({ wraps }: Column<T>) => `${HEAD} ${wraps ? '' : 'truncate'}`;

export function Row<T>({ row, columns, amounts, size, onRow, link, lead, rowIndex }: RowProps<T>) {
  const leads = onRow !== undefined || link !== undefined;
  return (
    <tr
      aria-rowindex={rowIndex}
      className={`border-b last:border-0 ${leads ? 'cursor-pointer hover:bg-hover focus-within:bg-hover' : ''}`}
      onClick={leads ? followHead : undefined}
      onAuxClick={link === undefined ? undefined : followHead}
    >
      {lead !== undefined && <td className={`${size.height} w-8 pl-3`}>{lead}</td>}
      {columns.map((column, index) => (
        <td
          key={column.header}
          className={`${size.height} ${widthOf(column, size)} ${size.padding} ${alignOf(column)}`}
          title={column.narrow ? String(column.value(row) ?? '') : undefined}
        >
          {index > 0 || !leads ? (
            drawCell(column, row, amounts[index])
          ) : link !== undefined && 'href' in link ? (
            <Anchor link={link} className={headOf(column)}>
              {drawCell(column, row, amounts[index])}
            </Anchor>
          ) : link !== undefined ? (
            <PlaceLink {...link} data-row className={headOf(column)} onKeyDown={followOnSpace}>
              {drawCell(column, row, amounts[index])}
            </PlaceLink>
          ) : (
            <button type="button" data-row className={headOf(column)} onClick={() => onRow?.(row)}>
              {drawCell(column, row, amounts[index])}
            </button>
          )}
        </td>
      ))}
    </tr>
  );
}

interface AnchorProps {
  readonly link: RowAnchor;
  readonly className: string;
  readonly children: ReactNode;
}

function Anchor({ link, className, children }: AnchorProps) {
  const { href, isOpen, onOpen } = link;
  return (
    <a
      href={href}
      data-row
      aria-current={isOpen ? 'page' : undefined}
      className={className}
      onKeyDown={followOnSpace}
      onClick={(event) => {
        if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        onOpen();
      }}
    >
      {children}
    </a>
  );
}

/** A click on a row triggers its link or button with the held keys, so Ctrl opens a new tab. */
function followHead(event: MouseEvent<HTMLTableRowElement>): void {
  const { target, currentTarget, nativeEvent } = event;
  const inner = target instanceof Element ? target.closest('a, button, input, select, label') : null;
  if (inner !== null && currentTarget.contains(inner)) {
    // Some browsers don't focus a clicked element.
    if (inner instanceof HTMLElement) inner.focus({ preventScroll: true });
    return;
  }
  if (!currentTarget.contains(target as Node) || nativeEvent.button > 1) return;
  const head = currentTarget.querySelector<HTMLElement>('[data-row]');
  if (head === null || getSelection()?.toString() !== '') return;
  head.focus({ preventScroll: true });
  const { ctrlKey, metaKey, shiftKey } = event;
  const isMiddle = nativeEvent.button === 1;
  head.dispatchEvent(
    new globalThis.MouseEvent('click', {
      ...{ bubbles: true, cancelable: true, ctrlKey: ctrlKey || isMiddle, metaKey, shiftKey },
    }),
  );
}

/** Space follows a row's link, as it presses a button. */
function followOnSpace(event: KeyboardEvent<HTMLAnchorElement>): void {
  if (event.key !== ' ') return;
  event.preventDefault();
  event.currentTarget.click();
}
