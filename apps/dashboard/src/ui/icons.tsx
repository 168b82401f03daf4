import type { SVGProps } from 'react';

/** Thin 16 px icons in the text's colour; the text beside them says the same. */
const icon = (path: string) => (props: SVGProps<SVGSVGElement>) => (
  <svg
    viewBox="0 0 16 16"
    width="16"
    height="16"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.35"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
    {...props}
  >
    <path d={path} />
  </svg>
);

export const Download = icon('M8 2.5v8m0 0 3-3m-3 3-3-3M3 13.5h10');
export const Alerts = icon(
  'M8 2a3.800 3.800 0 0 0-3.800 3.800c0 3.700-1.700 4.700-1.700 5.700h11c0-1-1.700-2-1.700-5.700A3.800 3.800 0 0 0 8 2M6.600 13.500a1.500 1.500 0 0 0 2.800 0',
);
export const Customers = icon(
  'M6 8a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5m-4.500 5.500c0-2.500 2-4 4.500-4s4.500 1.500 4.500 4m0-10.300a2.500 2.500 0 0 1 0 4.600m1.300 2c1.700.6 2.700 1.900 2.700 3.700',
);
export const Backends = icon('M2.500 3h11v4h-11zM2.500 9h11v4h-11zM5 5h.1M5 11h.1');
export const Audit = icon('M5.500 3H3.500v11h9V3h-2M5.500 2h5v2.500h-5zM5.800 9.300l1.500 1.500 3-3.200');
export const Up = icon('M8 13V3.5m0 0L4 7.5m4-4 4 4');
export const Down = icon('M8 3v9.5m0 0 4-4m-4 4-4-4');
export const Search = icon('M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10m3.600-1.400 3.400 3.400');
export const Close = icon('m4 4 8 8m0-8-8 8');
export const Menu = icon('M2.5 4.5h11M2.5 8h11m-11 3.5h11');
export const Overview = icon('M2.5 2.5h4.5v4.5H2.5zM9 2.5h4.5v4.5H9zM2.5 9H7v4.5H2.5zM9 9h4.5v4.5H9z');
export const Requests = icon('M2.5 4h11M2.5 8h11m-11 4h7');
export const Projects = icon('M2.5 4.5v8h11v-6.5h-5l-1.5-1.5z');
export const Spend = icon(
  'M8 2v12m3-9.5C10.5 3.6 9.400 3 8 3 6.300 3 5 3.900 5 5.300c0 3.300 6.200 1.700 6.200 5.200C11.200 12 9.800 13 8 13c-1.700 0-3-.8-3.400-2',
);
export const Latency = icon('M8 4.500V8l2.500 1.500M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0');
export const Models = icon('m8 2 5.500 3v6L8 14l-5.500-3V5zm0 0v6m0 0 5.500-3M8 8 2.500 5M8 8v6');
export const Cache = icon(
  'M13 4c0 1.100-2.200 2-5 2S3 5.100 3 4s2.200-2 5-2 5 .9 5 2m0 0v8c0 1.100-2.200 2-5 2s-5-.9-5-2V4m10 4c0 1.100-2.200 2-5 2s-5-.9-5-2',
);
export const Tools = icon(
  'M9.5 3.5a3 3 0 0 0-3.700 3.700L2.500 10.500a1.400 1.400 0 0 0 0 2l1 1a1.400 1.400 0 0 0 2 0l3.300-3.300a3 3 0 0 0 3.700-3.700L10.500 8.500 8.500 7.500 7.500 5.500z',
);
export const Guardrails = icon(
  'M8 1.800 13 3.600v3.900c0 3-2 5.400-5 6.700-3-1.300-5-3.700-5-6.700V3.600zM5.800 7.800l1.600 1.600 2.900-3',
);
export const Routing = icon(
  'M3 4.500h3.500l3 7H13m0 0-1.700-1.700M13 11.500l-1.700 1.700M3 11.500h3.500l1-2.300m1.500-3.500.5-1.200H13m0 0-1.700-1.700M13 4.500l-1.700 1.700',
);
export const Key = icon(
  'M10 9.500a3.500 3.500 0 1 0-3.300-2.300L2.500 11.400V13.500h2.100v-1.500h1.500V10.500l1.300-1.300M10.500 5.500h.1',
);
export const Batches = icon(
  'M2.500 4.500l5.500-2.500 5.500 2.500L8 7zM2.500 8L8 10.500 13.500 8M2.500 11.500L8 14l5.500-2.500',
);
export const Runs = icon('M3 3.5h4M3 3.500v9h4M3 8h4M9 2h4.500v3H9zM9 6.500h4.500v3H9zM9 11h4.500v3H9z');
export const Playground = icon('M4.500 2.800v10.400L13 8z');
export const Settings = icon(
  'M2.500 5h6m4 0h1m-11 6h1m4 0h6M8.500 5a2 2 0 1 0 4 0 2 2 0 0 0-4 0m-5 6a2 2 0 1 0 4 0 2 2 0 0 0-4 0',
);
export const Sun = icon(
  'M8 1.500v1m0 11v1m6.500-6.500h-1m-11 0h-1M12.600 3.400l-.7.7m-7.800 7.800-.7.7m9.200 0-.7-.7M4.100 4.100l-.7-.7M11 8a3 3 0 1 1-6 0 3 3 0 0 1 6 0',
);
export const Moon = icon('M13.500 9.500A6 6 0 0 1 6.500 2.500a6 6 0 1 0 7 7');
export const Copy = icon('M5.500 5.500v-3h8v8h-3m-8-5h8v8h-8z');
export const Check = icon('m3 8.500 3.500 3.500L13 4.500');
export const Chevron = icon('m4.500 6.500 3.500 3.500 3.500-3.500');
export const SignOut = icon('M6.500 13.500h-4v-11h4M10.500 11 13.500 8l-3-3m3 3H6');
export const Compare = icon('M2 12.500 5.500 7l3 3L14 3M2 9.500l2-2.500M6 5l1.500 1.500L11 2.500');
export const Marks = icon('M4 14V2.500m0 .5h7.500L10 5.500 11.500 8H4');
export const Plus = icon('M8 3v10M3 8h10');
export const Warning = icon('M8 2 1.800 13.500h12.400zM8 6.500v3.300m0 1.900v.1');
