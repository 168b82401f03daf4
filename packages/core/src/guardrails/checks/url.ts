import { TimeSlices } from '../../async/time-slices';
import { NOTHING_FOUND, type TextCheck } from '../check';
import { foldText } from '../folded-text';
import type { Span } from '../span';
import { type FoundHost, findHosts, MAX_ADDRESS } from './find-hosts';
import { HostList } from './host-list';
import { unwrapText } from './unwrap-text';

/** Allowed and denied hosts; denial wins. `*` in `deny` matches every host. */
export interface UrlRule {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

/** In `deny`. */
export const EVERY_HOST = '*';
/** Characters that are looked at in one go, and those that two goes share: no address is cut. */
const PIECE = 16 * 1024;
const SHARED = MAX_ADDRESS + 512;
const MOST_SPANS = 1000;
const REASON = 'The text must not lead to hosts that are not allowed.';

/** Finds links and plain hosts. Throws for invalid lists. */
export function checkUrls({ allow, deny }: UrlRule): TextCheck {
  if (allow === undefined && deny === undefined) throw new Error('"allow" or "deny" is needed');
  const allowed = allow === undefined ? undefined : new HostList(allow);
  const deniesAll = deny?.includes(EVERY_HOST) === true;
  const denied = new HostList(deny?.filter((host) => host !== EVERY_HOST) ?? []);
  const isWrong = ({ host, as }: FoundHost): boolean =>
    denied.looksLike(host) || ((as === 'link' || as === 'shown') && (deniesAll || allowed?.has(host) === false));
  return {
    async judge({ text }) {
      const slices = new TimeSlices();
      const spans = new Map<number, Span>();
      let hidden = 0;
      for (let from = 0; from === 0 || from < text.length - SHARED; from += PIECE - SHARED) {
        const piece = text.slice(from, from + PIECE);
        const folded = foldText(piece, 'width');
        for (const found of findHosts(folded.text)) {
          const start = from + folded.originOf(found.start);
          if (isWrong(found)) spans.set(start, { start, end: from + folded.endOf(found.end), kind: 'url' });
        }
        const unwrapped = unwrapText(folded.text);
        if (spans.size === 0 && unwrapped !== undefined) hidden += findHosts(unwrapped).filter(isWrong).length;
        if (spans.size > MOST_SPANS) return { count: spans.size, reason: REASON };
        await slices.pause();
      }
      if (spans.size === 0 && hidden === 0) return NOTHING_FOUND;
      // A disguised host has no known position.
      if (hidden > 0) return { count: spans.size + hidden, reason: REASON };
      return { count: spans.size, spans: [...spans.values()], reason: REASON };
    },
  };
}
