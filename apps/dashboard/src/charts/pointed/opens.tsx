import type { CSSProperties, ReactNode } from 'react';

/** What a click or a second touch on the part of a tooltip opens. */
export const Opens = ({ what }: { readonly what: string }) => (
  <>
    <span className="[@media(hover:none)]:hidden">Click opens </span>
    <span className="hidden [@media(hover:none)]:inline">Tap again for </span>
    {what}
  </>
);

interface TipProps {
  readonly text: string;
  /** The last line, as of what a click opens. */
  readonly note: ReactNode;
  /** Its place and width. */
  readonly className: string;
  readonly style: CSSProperties;
}

/** Tooltip of a part of a picture. */
export const PointedTip = ({ text, note, className, style }: TipProps) => (
  <p
    className={`absolute w-max rounded-md border border-line-strong bg-panel px-2.5 py-1.5 text-xs shadow-md ${className}`}
    style={style}
  >
    {text}
    {note && <span className="block text-muted">{note}</span>}
  </p>
);
