import {
  type FocusEvent,
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  type RefObject,
  useRef,
  useState,
} from 'react';
import {
  type Cell,
  cellAt,
  cellsBetween,
  firstCell,
  type HeatMap,
  moveCell,
  type Region,
  regionOf,
} from './prepare-heat-map';

/** Distance before a drag starts; fingers tremble more. */
const DRAG_PX = { mouse: 5, pen: 8, touch: 12 } as const;

interface Options {
  readonly map: HeatMap;
  readonly hasRegion: boolean;
  readonly onRegion: (region: Region | null) => void;
  /** A click, a second touch or Enter on one cell. */
  readonly onOpen: (region: Region) => void;
}

interface Press {
  readonly cell: Cell;
  readonly x: number;
  readonly y: number;
  isDragging: boolean;
}

interface Held extends Options {
  /** The cell that is pointed at. */
  readonly at: Cell | null;
  /** The corner where a selection began. */
  readonly anchor: Cell | null;
  readonly point: (at: Cell | null) => void;
  readonly hold: (anchor: Cell | null) => void;
  readonly press: RefObject<Press | null>;
  readonly touched: RefObject<{ isTouch: boolean; cell: Cell | null }>;
}

/** The cell under the pointer or reached by keys; a drag, or Shift with arrows and Enter, selects a region. */
export function useCells(options: Options) {
  const [at, point] = useState<Cell | null>(null);
  const [anchor, hold] = useState<Cell | null>(null);
  const press = useRef<Press | null>(null);
  const touched = useRef<{ isTouch: boolean; cell: Cell | null }>({ isTouch: false, cell: null });
  // A map that changed may have fewer cells.
  const now = at !== null && isOn(options.map, at) ? at : null;
  const held = { ...options, at: now, anchor, point, hold, press, touched };
  return {
    at: now,
    selecting: now === null || anchor === null ? null : cellsBetween(anchor, now),
    handlers: { ...pointerHandlers(held), ...keyHandlers(held) },
  };
}

function select({ map, hold, onRegion }: Held, one: Cell, other: Cell): void {
  hold(null);
  onRegion(regionOf(map, cellsBetween(one, other)));
}

const open = ({ map, onOpen }: Held, cell: Cell) => onOpen(regionOf(map, cellsBetween(cell, cell)));

function pointerHandlers(held: Held) {
  const { map, point, hold, press, touched } = held;
  return {
    onPointerDown: (event: PointerEvent<HTMLElement>) => {
      touched.current.isTouch = event.pointerType === 'touch';
      const isMain = event.button === 0 && event.isPrimary;
      const { clientX: x, clientY: y } = event;
      press.current = isMain ? { cell: cellUnder(event, map), x, y, isDragging: false } : null;
    },
    onPointerMove: (event: PointerEvent<HTMLElement>) => {
      const pressed = press.current;
      if (pressed !== null && event.buttons > 0 && !pressed.isDragging && isFar(event, pressed)) {
        pressed.isDragging = true;
        event.currentTarget.setPointerCapture(event.pointerId);
        hold(pressed.cell);
      }
      if (event.pointerType !== 'touch' || pressed?.isDragging) point(cellUnder(event, map));
    },
    onPointerUp: (event: PointerEvent<HTMLElement>) => {
      if (press.current?.isDragging) select(held, press.current.cell, cellUnder(event, map));
    },
    onPointerCancel: () => {
      press.current = null;
      hold(null);
    },
    onPointerLeave: ({ pointerType, currentTarget }: PointerEvent<HTMLElement>) => {
      // A pointer that rests while the page moves doesn't end reading by keys.
      if (pointerType !== 'touch' && !currentTarget.matches(':focus-visible')) point(null);
    },
    onClick: (event: MouseEvent<HTMLElement>) => {
      const wasDragged = press.current?.isDragging === true;
      press.current = null;
      if (wasDragged) return;
      const cell = cellUnder(event, map);
      const { isTouch, cell: before } = touched.current;
      touched.current.cell = cell;
      point(cell);
      if (!isTouch || (before !== null && isSame(before, cell))) open(held, cell);
    },
  };
}

function keyHandlers(held: Held) {
  const { map, at, anchor, point, hold, touched, hasRegion, onRegion } = held;
  const from = at ?? firstCell(map);
  return {
    onFocus: ({ currentTarget }: FocusEvent<HTMLElement>) => {
      if (currentTarget.matches(':focus-visible')) point(from);
    },
    onBlur: () => {
      touched.current.cell = null;
      point(null);
      hold(null);
    },
    onKeyDown: (event: KeyboardEvent) => {
      const next = event.ctrlKey || event.metaKey || event.altKey ? null : moveCell(map, from, event.key);
      if (next !== null) {
        hold(event.shiftKey ? (anchor ?? from) : null);
        point(next);
      } else if (event.key === 'Enter') {
        if (anchor === null) open(held, from);
        else select(held, anchor, from);
      } else if (event.key === 'Escape' && anchor !== null) hold(null);
      else if (event.key === 'Escape' && hasRegion) onRegion(null);
      else return;
      event.preventDefault();
    },
  };
}

const isSame = (one: Cell, other: Cell) => one.column === other.column && one.row === other.row;
const isOn = ({ times, bins }: HeatMap, { column, row }: Cell) => column < times.length && row < bins.length;

const isFar = ({ clientX, clientY, pointerType }: PointerEvent, { x, y }: Press) =>
  Math.hypot(clientX - x, clientY - y) >= (DRAG_PX[pointerType as keyof typeof DRAG_PX] ?? DRAG_PX.mouse);

function cellUnder(event: MouseEvent<HTMLElement> | PointerEvent<HTMLElement>, map: HeatMap): Cell {
  const { left, top, width, height } = event.currentTarget.getBoundingClientRect();
  return cellAt(map, (event.clientX - left) / width, (event.clientY - top) / height);
}
