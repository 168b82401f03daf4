/** Which limit refuses a request. */
export type DenialReason =
  /** 429 key bucket, customer minute bucket / hour / day, customer's per-model day. */
  | 'key_rate'
  | 'customer_rate'
  | 'customer_model_rate'
  /** 429: one customer more than the project may have this month. */
  | 'customer_count'
  /** 429: requests or tokens of an organization, team or user. */
  | 'level_rate'
  | 'level_tokens_rate'
  /** 429 */
  | 'tokens_rate'
  | 'concurrency'
  /** 400: this request alone can never pass. */
  | 'tokens_over_limit'
  | 'level_tokens_over_limit'
  | 'per_request_max'
  /** 402 */
  | 'project_cap'
  | 'key_budget'
  | 'budget'
  /** 429 customer_spend_limit */
  | 'customer_daily_spend'
  | 'customer_monthly_spend'
  /** 503: the log queue is full. */
  | 'queue_full';
