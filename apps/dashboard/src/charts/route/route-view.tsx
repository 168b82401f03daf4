import { FiguresTable } from '../../ui/table/figures-table';
import {
  cellsOf,
  NO_PRICE_WIDTH,
  prepareRoute,
  ROUTE_WIDTH,
  type Route,
  type RouteEdge,
  type RouteNode,
} from './prepare-route';

const LINES = {
  begins: 'stroke-accent forced-colors:stroke-[CanvasText]',
  fails: 'stroke-muted forced-colors:stroke-[CanvasText]',
} as const satisfies Record<RouteEdge['kind'], string>;
const HEADS = {
  begins: 'fill-accent forced-colors:fill-[CanvasText]',
  fails: 'fill-muted forced-colors:fill-[CanvasText]',
} as const satisfies Record<RouteEdge['kind'], string>;
const BOXES = {
  start: 'fill-accent-soft stroke-accent',
  step: 'fill-panel stroke-line-strong',
  end: 'fill-hover stroke-line-strong',
} as const satisfies Record<RouteNode['kind'], string>;

const COLUMNS = ['Target', 'Requests that begin here', 'If it fails'];

/** The way of a request: solid arrows where it begins, dashed ones after a failure. */
export function RouteView({ label, route }: { readonly label: string; readonly route: Route }) {
  const { height, nodes, edges } = prepareRoute(route);
  const rows = cellsOf(route).map((cells) => ({ key: cells[0] ?? '', cells }));
  return (
    <figure className="relative">
      <figcaption className="mb-1 text-xs font-medium text-muted">{label}</figcaption>
      <svg
        viewBox={`-1 -1 ${ROUTE_WIDTH + 2} ${height + 2}`}
        className="block w-full max-w-80 text-xs"
        aria-hidden="true"
      >
        {edges.map((edge) => (
          <Edge key={edge.key} edge={edge} />
        ))}
        {nodes.map((node) => (
          <Box key={node.key} node={node} />
        ))}
      </svg>
      <FiguresTable caption={`${label}, in words: ${route.start}`} heads={COLUMNS} rows={rows} />
    </figure>
  );
}

const Edge = ({ edge: { kind, path, head, width, label } }: { readonly edge: RouteEdge }) => (
  <>
    <path
      d={path}
      fill="none"
      strokeWidth={width}
      strokeDasharray={kind === 'fails' ? '4 3' : undefined}
      className={LINES[kind]}
    />
    <path d={head} className={HEADS[kind]} />
    {label !== null && (
      <text x={label.x} y={label.y} fontSize="10" className="nums fill-muted forced-colors:fill-[CanvasText]">
        {label.text}
      </text>
    )}
  </>
);

const Box = ({
  node: { kind, x, y, width, height, text, name, isSkipped, isUnpriced },
}: {
  readonly node: RouteNode;
}) => (
  <g className={isSkipped ? 'opacity-70' : ''}>
    <title>
      {isSkipped ? `${name}: not set up, skipped` : isUnpriced ? `${name}: no price, skipped under a cap` : name}
    </title>
    <rect
      {...{ x, y, width, height }}
      rx="6"
      strokeDasharray={isSkipped ? '3 3' : undefined}
      className={`${BOXES[kind]} forced-colors:fill-[Canvas] forced-colors:stroke-[CanvasText]`}
    />
    <text
      x={x + 10}
      y={y + height / 2 + 4}
      fontSize="12"
      className={`fill-text forced-colors:fill-[CanvasText] ${kind === 'end' ? '' : 'font-medium'}`}
    >
      {text}
    </text>
    {isUnpriced && (
      <text
        x={x + width - NO_PRICE_WIDTH}
        y={y + height / 2 + 4}
        fontSize="11"
        className="fill-warn forced-colors:fill-[CanvasText]"
      >
        no price
      </text>
    )}
  </g>
);
