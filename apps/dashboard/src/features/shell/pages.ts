import type { ComponentType, SVGProps } from 'react';
import * as icons from '../../ui/icons';

export interface PageEntry {
  readonly to: string;
  readonly label: string;
  readonly icon: ComponentType<SVGProps<SVGSVGElement>>;
  /** The palette finds it by these words, too. */
  readonly words?: string;
}

export interface Section {
  readonly name: string;
  readonly pages: readonly PageEntry[];
}

/** All pages, in the order of the menu. */
export const SECTIONS: readonly Section[] = [
  {
    name: 'Watch',
    pages: [
      { to: '/', label: 'Overview', icon: icons.Overview, words: 'home health' },
      { to: '/requests', label: 'Requests', icon: icons.Requests, words: 'logs traces' },
      { to: '/latency', label: 'Latency', icon: icons.Latency, words: 'speed slow percentiles' },
      { to: '/cache', label: 'Cache', icon: icons.Cache, words: 'hits savings' },
      { to: '/alerts', label: 'Alerts', icon: icons.Alerts, words: 'notifications webhooks settings' },
    ],
  },
  {
    name: 'Money',
    pages: [
      { to: '/money', label: 'Spend & statements', icon: icons.Spend, words: 'cost money finance forecast invoice' },
      { to: '/customers', label: 'Customers', icon: icons.Customers, words: 'limits users' },
    ],
  },
  {
    name: 'Control',
    pages: [
      { to: '/projects', label: 'Projects & keys', icon: icons.Projects, words: 'caps budgets api' },
      { to: '/models', label: 'Models', icon: icons.Models, words: 'prices' },
      { to: '/routing', label: 'Routing', icon: icons.Routing, words: 'providers aliases chains failover' },
      { to: '/guardrails', label: 'Guardrails', icon: icons.Guardrails, words: 'policy rules' },
      { to: '/tools', label: 'Tools', icon: icons.Tools, words: 'mcp servers' },
      { to: '/backends', label: 'HTTP backends', icon: icons.Backends, words: 'services infer settings' },
    ],
  },
  {
    name: 'Try',
    pages: [{ to: '/playground', label: 'Playground', icon: icons.Playground, words: 'chat compare test' }],
  },
  {
    name: 'Admin',
    pages: [
      { to: '/audit', label: 'Audit', icon: icons.Audit, words: 'changes history settings' },
      { to: '/settings', label: 'Access & system', icon: icons.Settings, words: 'settings tokens jobs version' },
    ],
  },
];
