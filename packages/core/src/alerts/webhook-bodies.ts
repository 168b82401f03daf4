import type { AlertKind, WebhookFormat } from './kinds';

/** What a webhook is told of an alert. */
export interface AlertNews {
  readonly event: 'alert_firing' | 'alert_resolved' | 'alert_test';
  /** One sentence. */
  readonly text: string;
  /** In the unit of the kind. */
  readonly value: number | null;
  readonly atMs: number;
  readonly alert: {
    readonly id: string;
    readonly name: string;
    readonly kind: AlertKind;
    readonly threshold: number;
    readonly windowMinutes: number;
    readonly projectId: string | null;
  };
}

export interface WebhookAddress {
  readonly format: WebhookFormat;
  /** PagerDuty's integration key. */
  readonly routingKey: string | null;
}

/** Who is to be told; PagerDuty groups by it. */
const SOURCE = 'llm0-gateway';
/** Longest summary PagerDuty takes. */
const MAX_SUMMARY = 1024;

const COLOURS = { alert_firing: '#d4351c', alert_resolved: '#00703c', alert_test: '#5694ca' } as const;
const TEAMS_COLOURS = { alert_firing: 'Attention', alert_resolved: 'Good', alert_test: 'Accent' } as const;
const ACTIONS = { alert_firing: 'trigger', alert_resolved: 'resolve', alert_test: 'trigger' } as const;

const facts = ({ alert, value }: AlertNews): readonly (readonly [string, string])[] => [
  ['Alert', alert.name],
  ['Kind', alert.kind],
  ['Value', value === null ? 'none' : String(Number(value.toPrecision(6)))],
  ['Threshold', String(alert.threshold)],
];

/** What stands in Slack's and Teams' own markup is shown as it is. */
const plain = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const BODIES = {
  json: ({ event, text, value, alert }) => {
    const { id, name, kind, threshold, windowMinutes: window_minutes, projectId: project_id } = alert;
    return { event, text, value, alert: { id, name, kind, threshold, window_minutes, project_id } };
  },
  // https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
  slack: (news) => ({
    text: plain(news.text),
    attachments: [
      {
        color: COLOURS[news.event],
        fields: facts(news).map(([title, value]) => ({ title, value: plain(value), short: true })),
      },
    ],
  }),
  // https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
  teams: (news) => ({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            { type: 'TextBlock', text: news.text, wrap: true, weight: 'Bolder', color: TEAMS_COLOURS[news.event] },
            { type: 'FactSet', facts: facts(news).map(([title, value]) => ({ title, value })) },
          ],
        },
      },
    ],
  }),
  // https://developer.pagerduty.com/docs/send-alert-event
  pagerduty: (news, { routingKey }) => ({
    routing_key: routingKey ?? '',
    event_action: ACTIONS[news.event],
    // Resolves what it triggered; a test is an incident of its own.
    dedup_key: news.event === 'alert_test' ? `${news.alert.id}-test` : news.alert.id,
    payload: {
      summary: news.text.slice(0, MAX_SUMMARY),
      source: SOURCE,
      severity: news.event === 'alert_test' ? 'info' : 'critical',
      timestamp: new Date(news.atMs).toISOString(),
      component: news.alert.name,
      class: news.alert.kind,
      custom_details: Object.fromEntries(facts(news)),
    },
  }),
} as const satisfies Record<WebhookFormat, (news: AlertNews, address: WebhookAddress) => object>;

/** The JSON that a webhook of this format expects. */
export const webhookBody = (news: AlertNews, address: WebhookAddress): object => BODIES[address.format](news, address);
