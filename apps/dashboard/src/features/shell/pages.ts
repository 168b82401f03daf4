import type { ComponentType, SVGProps } from 'react';
import type { Permission } from '../../api/session';
import * as icons from '../../ui/icons';

export interface PageEntry {
  readonly to: string;
  readonly label: string;
  readonly icon: ComponentType<SVGProps<SVGSVGElement>>;
  /** The palette finds it by these words, too. */
  readonly words?: string;
  /** Whoever lacks it does not see the page. */
  readonly needs: Permission;
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
      { to: '/', needs: 'read_stats', label: 'Overview', icon: icons.Overview, words: 'home health errors dashboard' },
      {
        to: '/requests',
        needs: 'read_logs',
        label: 'Requests',
        icon: icons.Requests,
        words: 'logs traces errors failures conversations prompts',
      },
      { to: '/runs', needs: 'read_logs', label: 'Runs', icon: icons.Runs, words: 'agents budgets' },
      { to: '/batches', needs: 'read_logs', label: 'Batches', icon: icons.Batches, words: 'files bulk progress' },
      {
        to: '/latency',
        needs: 'read_stats',
        label: 'Latency',
        icon: icons.Latency,
        words: 'speed slow percentiles p50 p95 p99',
      },
      { to: '/cache', needs: 'read_system', label: 'Cache', icon: icons.Cache, words: 'hits savings' },
      {
        to: '/alerts',
        needs: 'read_settings',
        label: 'Alerts',
        icon: icons.Alerts,
        words: 'notifications webhooks slack pagerduty mail settings',
      },
    ],
  },
  {
    name: 'Money',
    pages: [
      {
        to: '/money',
        needs: 'read_spend',
        label: 'Spend & statements',
        icon: icons.Spend,
        words: 'cost money finance forecast',
      },
      { to: '/customers', needs: 'read_spend', label: 'Customers', icon: icons.Customers, words: 'limits users' },
    ],
  },
  {
    name: 'Control',
    pages: [
      {
        to: '/projects',
        needs: 'read_settings',
        label: 'Projects & keys',
        icon: icons.Projects,
        words: 'caps budgets api rotate revoke rate limits',
      },
      { to: '/models', needs: 'see', label: 'Models', icon: icons.Models, words: 'prices retirement' },
      {
        to: '/routing',
        needs: 'read_system',
        label: 'Routing',
        icon: icons.Routing,
        words: 'providers aliases chains failover',
      },
      {
        to: '/guardrails',
        needs: 'read_settings',
        label: 'Guardrails',
        icon: icons.Guardrails,
        words: 'pii policy rules moderation injection',
      },
      { to: '/tools', needs: 'read_system', label: 'Tools', icon: icons.Tools, words: 'mcp servers' },
      {
        to: '/backends',
        needs: 'read_system',
        label: 'HTTP backends',
        icon: icons.Backends,
        words: 'services infer settings',
      },
    ],
  },
  {
    name: 'Try',
    pages: [
      { to: '/me', needs: 'change_own_keys', label: 'My keys', icon: icons.Key, words: 'own personal login' },
      {
        to: '/playground',
        needs: 'read_stats',
        label: 'Playground',
        icon: icons.Playground,
        words: 'chat compare test prompt',
      },
    ],
  },
  {
    name: 'Admin',
    pages: [
      {
        to: '/audit',
        needs: 'read_audit',
        label: 'Audit',
        icon: icons.Audit,
        words: 'changes history who changed settings',
      },
      {
        to: '/teams',
        needs: 'read_settings',
        label: 'Teams & people',
        icon: icons.Customers,
        words: 'users roles members sign-on',
      },
      {
        to: '/settings',
        needs: 'read_system',
        label: 'Access & system',
        icon: icons.Settings,
        words: 'settings tokens jobs version',
      },
    ],
  },
];
