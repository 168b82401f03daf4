import { type ReactNode, useEffect, useRef, useState } from 'react';
import { HeatBox, type HeatCell } from './heat-box';
import { useGrid } from './use-grid';

export interface HeatRow {
  readonly key: string;
  readonly head: ReactNode;
  /** Null is a place without a cell. */
  readonly cells: readonly (HeatCell | null)[];
}

interface Props {
  readonly caption: string;
  /** Heading of the row heads. */
  readonly corner: string;
  readonly heads: readonly { readonly key: string; readonly label: ReactNode }[];
  readonly rows: readonly HeatRow[];
  /** Target of a click, such as `the dearest requests`. */
  readonly opens: string;
  /** Columns of one width: they fit into the card. Others scroll beside the row heads. */
  readonly isEven?: boolean;
}

/** The rest is for the row heads. */
const COLUMNS_PERCENT = 84;
const HEAD = 'px-1.5 py-1 text-2xs font-medium text-muted';
const CORNERS = { even: 'w-0 p-0! sm:w-14', free: 'sticky left-0 bg-panel' } as const;
const HEADS = { even: '', free: 'max-w-18 text-right xl:max-w-28' } as const;
const ROW_HEADS = {
  even: 'nums p-0 text-left text-2xs font-normal text-muted',
  free: 'sticky left-0 max-w-36 bg-panel px-1.5 text-left text-xs font-normal sm:max-w-60',
} as const;

/** Amounts as shades in a table. Arrows move between its links, of which Tab reaches one. */
export function HeatTable({ caption, corner, heads, rows, opens, isEven = false }: Props) {
  const [pointed, setPointed] = useState<HeatCell | null>(null);
  const grid = useGrid(rows.map(({ cells }) => cells.map((cell) => cell !== null && cell.link !== null)));
  const amounts = rows.flatMap(({ cells }) => cells.map((cell) => (cell?.isTotal ? 0 : (cell?.amount ?? 0))));
  const most = Math.max(0, ...amounts);
  const shape = isEven ? 'even' : 'free';
  const { frame, isCut } = useIsCut();
  // Equal amounts look equal, whatever the length of their heads.
  const width = isEven ? undefined : { width: `${COLUMNS_PERCENT / heads.length}%` };
  return (
    <>
      <div ref={frame} className="relative overflow-x-auto">
        <table ref={grid.table} className={`w-full border-separate border-spacing-0.5 ${isEven ? 'table-fixed' : ''}`}>
          <caption className="sr-only">{caption}. Use the arrow keys to move between cells.</caption>
          <thead>
            <tr>
              <th scope="col" className={`${HEAD} ${CORNERS[shape]}`}>
                <span className="sr-only">{corner}</span>
              </th>
              {heads.map(({ key, label }) => (
                <th key={key} scope="col" className={`${HEAD} ${HEADS[shape]}`} style={width}>
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ key, head, cells }, row) => (
              <tr key={key}>
                <th scope="row" className={ROW_HEADS[shape]}>
                  {head}
                </th>
                {heads.map((column, at) => (
                  <td key={column.key} className="p-0">
                    <HeatBox
                      cell={cells[at] ?? null}
                      {...{ most, stop: grid.stopOf({ row, column: at }), onPointed: setPointed }}
                    />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p aria-hidden="true" className="mt-1.5 min-h-9 text-xs text-muted sm:min-h-4.5">
        {pointed !== null && `${pointed.title}.${pointed.link === null ? '' : ` A click opens ${opens}.`}`}
        {pointed === null && isCut && `Scroll sideways for all ${heads.length} columns.`}
      </p>
    </>
  );
}

/** Whether a frame has more columns than room. */
function useIsCut() {
  const frame = useRef<HTMLDivElement>(null);
  const [isCut, setIsCut] = useState(false);
  useEffect(() => {
    const { current } = frame;
    if (current === null) return;
    const observer = new ResizeObserver(() => setIsCut(current.scrollWidth > current.clientWidth));
    for (const element of [current, ...current.children]) observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { frame, isCut };
}
