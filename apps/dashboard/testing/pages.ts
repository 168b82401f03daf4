/** Every page of the dashboard: its path and what it is called in its heading. */
export const PAGES = [
  { name: 'overview', path: '/?range=14d', heading: 'Overview' },
  { name: 'requests', path: '/requests?range=7d', heading: 'Requests' },
  { name: 'projects', path: '/projects', heading: 'Projects & keys' },
  { name: 'customers', path: '/projects?tab=customers&range=7d', heading: 'Projects & keys' },
  { name: 'spend', path: '/spend?range=14d', heading: 'Spend' },
  { name: 'finance', path: '/finance?by=customer', heading: 'Finance' },
  { name: 'latency', path: '/latency?range=14d', heading: 'Latency' },
  { name: 'models', path: '/models', heading: 'Models' },
  { name: 'cache', path: '/cache?range=14d', heading: 'Cache' },
  { name: 'routing', path: '/routing', heading: 'Routing' },
  { name: 'tools', path: '/tools?range=14d', heading: 'Tools' },
  { name: 'tool-calls', path: '/tools?range=14d&tab=calls', heading: 'Tools' },
  { name: 'tool-usage', path: '/tools?range=14d&tab=usage', heading: 'Tools' },
  { name: 'code-mode', path: '/tools?tab=code', heading: 'Tools' },
  { name: 'playground', path: '/playground', heading: 'Playground' },
  { name: 'settings', path: '/settings', heading: 'Settings & audit' },
] as const;
