import type { AlertKind, WebhookFormat } from './kinds';

/** Webhook message of an alert. */
export interface AlertNews {
  readonly event: 'alert_firing' | 'alert_resolved' | 'alert_test';
  /** One sentence. */
  readonly text: string;
  /** Everything that the text shortens. */
  readonly details?: readonly string[];
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

/** Names of the things that an alert is about, and of those that recovered. */
export interface AlertSubjects {
  readonly firing: readonly string[];
  readonly over: readonly string[];
}

export interface WebhookAddress {
  readonly format: WebhookFormat;
  /** PagerDuty's integration key. */
  readonly routingKey: string | null;
}

/** Recipient; PagerDuty groups by it. */
const SOURCE = 'llm0-gateway';
/** Longest summary PagerDuty takes. */
const MAX_SUMMARY = 1024;
/** Longest `dedup_key` it takes; longer names are hashed. */
const MAX_DEDUP_KEY = 255;

const COLOURS = { alert_firing: '#d4351c', alert_resolved: '#00703c', alert_test: '#5694ca' } as const;
const TEAMS_COLOURS = { alert_firing: 'Attention', alert_resolved: 'Good', alert_test: 'Accent' } as const;
const ACTIONS = { alert_firing: 'trigger', alert_resolved: 'resolve', alert_test: 'trigger' } as const;

const facts = ({ alert, value }: AlertNews): readonly (readonly [string, string])[] => [
  ['Alert', alert.name],
  ['Kind', alert.kind],
  ['Value', value === null ? 'none' : String(Number(value.toPrecision(6)))],
  ['Threshold', String(alert.threshold)],
];

/** Escapes the markup of Slack and Teams. */
const plain = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const BODIES = {
  json: ({ event, text, details, value, alert }) => {
    const { id, name, kind, threshold, windowMinutes: window_minutes, projectId: project_id } = alert;
    return {
      event,
      text,
      ...(details && { details }),
      value,
      alert: { id, name, kind, threshold, window_minutes, project_id },
    };
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
    // Resolves its own incident; a test is a separate one.
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

/**
 * PagerDuty pages once per `dedup_key`: each subject is an incident of its own, so that a second outage pages again.
 * Repeating a trigger or a resolve changes nothing there. Other formats take one body.
 */
export function webhookBodies(news: AlertNews, address: WebhookAddress, subjects: AlertSubjects): readonly object[] {
  const { firing, over } = subjects;
  if (address.format !== 'pagerduty' || firing.length + over.length === 0) return [webhookBody(news, address)];
  const bodyOf = (event: AlertNews['event']) => (subject: string) => ({
    ...BODIES.pagerduty({ ...news, event }, address),
    dedup_key: subjectKey(news.alert.id, subject),
  });
  return [...firing.map(bodyOf('alert_firing')), ...over.map(bodyOf('alert_resolved'))];
}

function subjectKey(id: string, subject: string): string {
  const key = `${id}/${subject}`;
  return key.length <= MAX_DEDUP_KEY ? key : `${id}/${Bun.hash(subject).toString(36)}`;
}
