/** Properties of an alert kind. A new kind needs an entry here, a measure in the job and words in the dashboard. */
export interface AlertKindFacts {
  /** Unit of the threshold. `none`: one is enough. */
  readonly unit: 'share' | 'ms' | 'usd' | 'minutes' | 'z' | 'rate' | 'count' | 'none';
  /** The alert sets a time window. */
  readonly isWindowed: boolean;
  /** A preview over the last week is possible. */
  readonly isReplayed: boolean;
  /** Applies to one project if the alert names one. */
  readonly takesProject: boolean;
  /** Default values. */
  readonly defaultThreshold: number;
}

const windowed = { isWindowed: true, isReplayed: true, takesProject: true } as const;

export const ALERT_KIND_FACTS = {
  budget_share: { ...windowed, isWindowed: false, unit: 'share', defaultThreshold: 0.5 },
  error_rate: { ...windowed, unit: 'share', defaultThreshold: 0.05 },
  latency_p95: { ...windowed, unit: 'ms', defaultThreshold: 10_000 },
  spend: { ...windowed, unit: 'usd', defaultThreshold: 10 },
  job_failed: { ...windowed, takesProject: false, unit: 'none', defaultThreshold: 1 },
  guardrail_hits: { ...windowed, unit: 'count', defaultThreshold: 1 },
  provider_down: { isWindowed: false, isReplayed: false, takesProject: false, unit: 'minutes', defaultThreshold: 1 },
  store_down: { isWindowed: false, isReplayed: false, takesProject: false, unit: 'none', defaultThreshold: 1 },
  log_queue: { isWindowed: false, isReplayed: false, takesProject: false, unit: 'minutes', defaultThreshold: 5 },
  cache_ratio_fall: { ...windowed, isReplayed: false, unit: 'share', defaultThreshold: 0.5 },
  spend_anomaly: { ...windowed, isWindowed: false, unit: 'z', defaultThreshold: 5 },
  error_budget_burn: { ...windowed, unit: 'rate', defaultThreshold: 14.4 },
} as const satisfies Record<string, AlertKindFacts>;

export type AlertKind = keyof typeof ALERT_KIND_FACTS;
export const ALERT_KINDS = Object.keys(ALERT_KIND_FACTS) as [AlertKind, ...AlertKind[]];

/** Body formats of webhooks. */
export const WEBHOOK_FORMATS = ['json', 'slack', 'teams', 'pagerduty'] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];
