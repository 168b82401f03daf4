import type { ComponentType, SVGProps } from 'react';
import * as icons from '../../ui/icons';

type IconOf = ComponentType<SVGProps<SVGSVGElement>>;

/** All pages, in the order of the menu. */
export const PAGES: readonly (readonly [to: string, label: string, icon: IconOf])[] = [
  ['/', 'Overview', icons.Overview],
  ['/requests', 'Requests', icons.Requests],
  ['/projects', 'Projects & keys', icons.Projects],
  ['/spend', 'Spend', icons.Spend],
  ['/finance', 'Finance', icons.Finance],
  ['/latency', 'Latency', icons.Latency],
  ['/models', 'Models', icons.Models],
  ['/cache', 'Cache', icons.Cache],
  ['/routing', 'Routing', icons.Routing],
  ['/tools', 'Tools', icons.Tools],
  ['/guardrails', 'Guardrails', icons.Guardrails],
  ['/playground', 'Playground', icons.Playground],
  ['/settings', 'Settings & audit', icons.Settings],
];
