/** Advice for a refusal, with its page. */
export interface Advice {
  readonly text: string;
  readonly page?: {
    readonly to: '/projects' | '/teams' | '/models' | '/routing' | '/requests';
    readonly label: string;
  };
}

const PROJECTS = { to: '/projects', label: 'Projects & keys' } as const;
const TEAMS = { to: '/teams', label: 'Teams & people' } as const;
const MODELS = { to: '/models', label: 'Models' } as const;
const ROUTING = { to: '/routing', label: 'Routing' } as const;

/** By `code` of the gateway's errors. */
const ADVICE: Readonly<Record<string, Advice>> = {
  spend_cap_exceeded: {
    text: "The project reached its monthly cap, or the rest doesn't cover this request. Raise the cap, lower max tokens, or wait until next month (UTC).",
    page: PROJECTS,
  },
  key_budget_exceeded: {
    text: "The key's budget is used up, or what is left does not cover this request. Raise it, lower max tokens, or choose another key.",
    page: PROJECTS,
  },
  label_budget_exceeded: {
    text: "The budget of one of its labels doesn't cover this request. Raise it, lower max tokens, or wait until it resets (UTC).",
    page: PROJECTS,
  },
  team_budget_exceeded: {
    text: "The budget of the team or organization doesn't cover this request. Raise it, lower max tokens, or wait until it resets (UTC).",
    page: TEAMS,
  },
  user_budget_exceeded: {
    text: "The budget of the key's user doesn't cover this request. Raise it, lower max tokens, or wait until it resets (UTC).",
    page: TEAMS,
  },
  customer_spend_limit: {
    text: 'The customer has reached its limit. Raise the limit, or leave the customer out.',
    page: PROJECTS,
  },
  request_over_limit: {
    text: 'This request could cost more than a single request may. Lower max tokens, or raise the limit.',
    page: PROJECTS,
  },
  rate_limit_exceeded: { text: 'Wait for the time shown and send again, or raise the limit.', page: PROJECTS },
  invalid_api_key: { text: 'The key is unknown or was revoked. Choose another one.', page: PROJECTS },
  missing_api_key: { text: 'Choose a project and a key, or paste one.' },
  key_expired: { text: 'The key has expired. Extend it, or choose another one.', page: PROJECTS },
  project_inactive: { text: 'The project is turned off. Turn it on, or choose another one.', page: PROJECTS },
  model_not_allowed: {
    text: 'This key may not use that model. Choose one from the list, or allow it.',
    page: PROJECTS,
  },
  model_not_found: {
    text: 'Choose a model from the list, or add a provider or an alias with this name.',
    page: ROUTING,
  },
  model_not_priced: { text: 'Set a price for the model, or let the project use models without one.', page: MODELS },
  permission_denied: { text: 'Your token is read-only. Paste a key, or sign in with an admin token.' },
  unsupported_parameter: {
    text: 'Remove the setting named above, choose another model, or let the key drop unsupported parameters.',
  },
  invalid_request: { text: 'Fix the field named above and send again.' },
  invalid_json: { text: 'Fix the JSON under "Other fields" and send again.' },
  context_length_exceeded: { text: 'Delete turns or images, or choose a model with a larger context.', page: MODELS },
  request_too_large: { text: 'Remove images, or make them smaller.' },
  upstream_rejected: {
    text: 'The provider rejected the request; its message is above. Change the request and send again.',
  },
  upstream_rate_limited: { text: "Every target is at its provider's limit. Wait, or add a fallback.", page: ROUTING },
  upstream_error: {
    text: 'Every target failed; the attempts are listed above. Add a fallback, or try again.',
    page: ROUTING,
  },
  upstream_unavailable: { text: 'No target can be reached. Check the providers.', page: ROUTING },
  upstream_timeout: { text: 'No target answered in time. Try again, or use a faster model.', page: ROUTING },
  overloaded: { text: 'The gateway is busy. Try again in a moment.' },
  store_unavailable: { text: 'A store of the gateway is not responding. Try again in a moment.' },
  internal: { text: 'Something went wrong in the gateway. Look up the request ID in its log.' },
  unreachable: { text: 'Is the gateway running, and does this browser reach it? Send again once it does.' },
};

const UNKNOWN: Advice = { text: "See the request's row for details.", page: { to: '/requests', label: 'Requests' } };

export const adviceFor = (code: string): Advice => ADVICE[code] ?? UNKNOWN;
