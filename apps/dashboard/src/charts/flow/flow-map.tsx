import { type ReactNode, useCallback, useEffect, useId, useState } from 'react';
import { formatShare } from '../../format/format-number';
import { requestsLink } from '../../range/use-show-requests';
import { PlaceLink } from '../../ui/place-link';
import { usePointed } from '../pointed/use-pointed';
import { MEANING } from '../series-colors';
import {
  type ColumnName,
  describeCounts,
  describeRibbon,
  type FlowNode,
  type FlowMap as Prepared,
  RIBBON_WIDTH,
  type Ribbon,
  type RibbonKind,
  shareFailed,
} from './prepare-flow';

interface Props {
  readonly map: Prepared;
  readonly onSelect: (ribbon: Ribbon) => void;
}

const HEADS = { caller: 'Projects', model: 'Requested', target: 'Answered by' } as const satisfies Record<
  ColumnName,
  string
>;
const FILLS = {
  none: 'fill-faint forced-colors:fill-[CanvasText]',
  fine: 'fill-good forced-colors:fill-[CanvasText]',
  some: 'fill-warn forced-colors:fill-[CanvasText]',
  mostly: 'fill-bad forced-colors:fill-[CanvasText]',
  cache: 'forced-colors:fill-[CanvasText]',
} as const satisfies Record<RibbonKind, string>;

interface Told {
  readonly by: string;
  readonly text: string;
}

/** Requests from callers over models to providers: ribbons are as wide as their traffic. */
export function FlowMap({ map, onSelect }: Props) {
  const [told, setTold] = useState<Told | null>(null);
  // What is left ends its own text only: the next one may have begun.
  const tell = useCallback(
    (by: string, text: string | null) =>
      setTold((before) => (text !== null ? { by, text } : before?.by === by ? null : before)),
    [],
  );
  const [toModels, toTargets] = map.ribbons;
  const column = (name: ColumnName) => (
    <Column name={name} nodes={map.columns[name]} height={map.height} onPoint={tell} />
  );
  return (
    <div className={HEIGHTS}>
      <div className={COLUMNS}>
        {column('caller')}
        <Ribbons label="From projects to models" ribbons={toModels} {...{ map, onSelect }} onPoint={tell} />
        {column('model')}
        <Ribbons label="From models to providers" ribbons={toTargets} {...{ map, onSelect }} onPoint={tell} />
        {column('target')}
      </div>
      <p aria-hidden="true" className="mt-1 min-h-9 text-xs text-muted sm:min-h-4.5">
        {told?.text ?? (
          <>
            <span className="[@media(hover:none)]:hidden">
              Point at a ribbon to read it. A click opens its requests.
            </span>
            <span className="[@media(hover:hover)]:hidden">Tap a ribbon to read it, twice to open its requests.</span>
          </>
        )}
      </p>
    </div>
  );
}

/** Taller on phones, where names wrap. */
const HEIGHTS = '[--tall:1.6] sm:[--tall:1]';
const COLUMNS =
  'grid grid-cols-[minmax(0,5fr)_1.5rem_minmax(0,6fr)_1.5rem_minmax(0,4fr)] sm:grid-cols-[minmax(0,5fr)_minmax(1.5rem,3fr)_minmax(0,6fr)_minmax(1.5rem,3fr)_minmax(0,5fr)]';
const tall = (px: number) => `calc(${px}px * var(--tall))`;

interface ColumnProps {
  readonly name: ColumnName;
  readonly nodes: readonly FlowNode[];
  readonly height: number;
  readonly onPoint: (by: string, text: string | null) => void;
}

function Column({ name, nodes, height, onPoint }: ColumnProps) {
  return (
    <div className="min-w-0">
      <h3 className="truncate text-2xs text-faint">{HEADS[name]}</h3>
      <ul className="relative" style={{ height: tall(height) }} aria-label={HEADS[name]}>
        {nodes.map((node) => (
          <li key={node.key} className="absolute inset-x-0" style={{ top: tall(node.top), height: tall(node.height) }}>
            <Box
              node={node}
              onPoint={(isOn) => onPoint(`${name} ${node.key}`, isOn ? `${node.label}: ${describeCounts(node)}` : null)}
            >
              <span className="sm:truncate">{node.label}</span>
              <span className="sr-only">: {describeCounts(node)}</span>
              {node.failed > 0 && (
                <span aria-hidden="true" className="nums text-bad">
                  {formatShare(shareFailed(node))}
                </span>
              )}
            </Box>
          </li>
        ))}
      </ul>
    </div>
  );
}

interface BoxProps {
  readonly node: FlowNode;
  readonly onPoint: (isOn: boolean) => void;
  readonly children: ReactNode;
}

const BOX =
  'relative flex size-full items-center justify-between gap-1 rounded border bg-bg px-1 text-2xs leading-3 max-sm:flex-wrap max-sm:content-center max-sm:gap-y-0 max-sm:overflow-hidden max-sm:wrap-anywhere sm:px-1.5 sm:text-xs';

function Box({ node, onPoint, children }: BoxProps) {
  const handlers = {
    onPointerEnter: () => onPoint(true),
    onPointerLeave: () => onPoint(false),
    onFocus: () => onPoint(true),
    onBlur: () => onPoint(false),
  };
  const { filter } = node;
  if (filter === null) {
    return (
      <span className={`${BOX} text-muted`} {...handlers}>
        {children}
      </span>
    );
  }
  return (
    <PlaceLink {...requestsLink(filter)} className={`${BOX} hover:border-line-strong hover:bg-hover`} {...handlers}>
      {children}
    </PlaceLink>
  );
}

interface RibbonsProps extends Props {
  readonly label: string;
  readonly ribbons: readonly Ribbon[];
  readonly onPoint: (by: string, text: string | null) => void;
}

function Ribbons({ label, map, ribbons, onSelect, onPoint }: RibbonsProps) {
  const hintId = useId();
  const { isShown, index, handlers } = usePointed({
    count: ribbons.length,
    indexUnder: ({ target }) => {
      const path = target instanceof Element ? target.closest<SVGPathElement>('[data-index]') : null;
      return path === null ? null : Number(path.dataset.index);
    },
    onChoose: (chosen) => {
      const ribbon = ribbons[chosen];
      if (ribbon !== undefined && ribbon.filter !== null) onSelect(ribbon);
    },
  });
  const at = ribbons[index];
  const text = at === undefined ? '' : describeRibbon(map, at);
  const told = isShown ? text : null;
  useEffect(() => onPoint(label, told), [label, told, onPoint]);
  return (
    <div
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-orientation="horizontal"
      aria-valuemin={0}
      aria-valuemax={Math.max(0, ribbons.length - 1)}
      aria-valuenow={Math.max(0, index)}
      aria-valuetext={text}
      aria-describedby={hintId}
      className="mt-4 min-w-0 rounded-sm"
      {...handlers}
    >
      <svg
        viewBox={`0 0 ${RIBBON_WIDTH} ${map.height}`}
        preserveAspectRatio="none"
        className="block w-full"
        style={{ height: tall(map.height) }}
        aria-hidden="true"
      >
        {ribbons.map(({ from, to, kind, path, filter }, place) => (
          <path
            key={`${from} ${to}`}
            d={path}
            data-index={place}
            fill={kind === 'cache' ? MEANING.exact : undefined}
            fillOpacity={isShown && place === index ? 0.85 : 0.4}
            className={`${FILLS[kind]} ${filter === null ? '' : 'cursor-pointer'}`}
          />
        ))}
      </svg>
      <span id={hintId} className="sr-only">
        Use the arrow keys to move. Press Enter to see the requests.
      </span>
    </div>
  );
}

const KINDS = {
  fine: 'Under 2 % failed',
  some: '2 % or more failed',
  mostly: 'Half or more failed',
  cache: 'Answered by a cache',
  none: 'Not sent to a provider',
} as const satisfies Record<RibbonKind, string>;

/** Explains the colors. */
export const FlowLegend = () => (
  <ul className="flex flex-wrap gap-x-3 gap-y-1 text-2xs text-muted" aria-label="Meaning of the ribbons">
    {(Object.keys(KINDS) as RibbonKind[]).map((kind) => (
      <li key={kind} className="flex items-center gap-1.5">
        <svg viewBox="0 0 10 10" className="size-2.5" aria-hidden="true">
          <rect
            width="10"
            height="10"
            rx="2"
            fill={kind === 'cache' ? MEANING.exact : undefined}
            fillOpacity={0.6}
            className={FILLS[kind]}
          />
        </svg>
        {KINDS[kind]}
      </li>
    ))}
  </ul>
);
