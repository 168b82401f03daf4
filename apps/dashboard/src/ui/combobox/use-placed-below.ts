import { type RefObject, useLayoutEffect, useRef } from 'react';

const GAP = 2;
const MARGIN = 8;
const MAX_HEIGHT = 256;

/** A list in the top layer, below its field or, without room, above it: no dialog clips it. */
export function usePlacedBelow<T extends HTMLElement>(field: RefObject<HTMLElement | null>, isOpen: boolean) {
  const list = useRef<T>(null);
  useLayoutEffect(() => {
    const [box, anchor] = [list.current, field.current];
    if (box === null || anchor === null || !isOpen) return;
    box.showPopover();
    const place = () => {
      const { left, top, bottom, width } = anchor.getBoundingClientRect();
      const below = innerHeight - bottom - MARGIN;
      const isAbove = below < Math.min(MAX_HEIGHT, box.scrollHeight) && top - MARGIN > below;
      const wide = Math.min(Math.max(width, 220), innerWidth - 2 * MARGIN);
      Object.assign(box.style, {
        left: `${Math.max(MARGIN, Math.min(left, innerWidth - wide - MARGIN))}px`,
        width: `${wide}px`,
        top: isAbove ? 'auto' : `${bottom + GAP}px`,
        bottom: isAbove ? `${innerHeight - top + GAP}px` : 'auto',
        right: 'auto',
        maxHeight: `${Math.max(80, Math.min(MAX_HEIGHT, isAbove ? top - MARGIN : below))}px`,
      });
    };
    place();
    addEventListener('scroll', place, true);
    addEventListener('resize', place);
    const watched = new ResizeObserver(place);
    watched.observe(anchor);
    return () => {
      removeEventListener('scroll', place, true);
      removeEventListener('resize', place);
      watched.disconnect();
      box.hidePopover();
    };
  }, [field, isOpen]);
  return list;
}
