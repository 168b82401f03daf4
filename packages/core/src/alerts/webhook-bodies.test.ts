import { describe, expect, test } from 'bun:test';
import { type AlertNews, webhookBody } from './webhook-bodies';

const news: AlertNews = {
  ...{ event: 'alert_firing', text: 'Alert: <b> & co: 40.0 % of 10 requests failed', value: 0.4, atMs: 0 },
  alert: { id: 'a1', name: '<b> & co', kind: 'error_rate', threshold: 0.3, windowMinutes: 15, projectId: null },
};
const body = (format: 'json' | 'slack' | 'teams' | 'pagerduty', more: Partial<AlertNews> = {}) =>
  webhookBody({ ...news, ...more }, { format, routingKey: 'R123' });

describe('messages of a webhook', () => {
  test('as JSON keeps its earlier format', () => {
    expect(body('json')).toEqual({
      ...{ event: 'alert_firing', text: news.text, value: 0.4 },
      alert: { id: 'a1', name: '<b> & co', kind: 'error_rate', threshold: 0.3, window_minutes: 15, project_id: null },
    });
  });

  test('as JSON has everything that the text shortens', () => {
    expect(body('json', { details: ['one', 'two'] })).toMatchObject({ text: news.text, details: ['one', 'two'] });
  });

  test("as Slack text escapes the operator's markup", () => {
    const told = body('slack') as { text: string; attachments: { color: string; fields: { value: string }[] }[] };
    expect(told.text).toBe('Alert: &lt;b&gt; &amp; co: 40.0 % of 10 requests failed');
    expect(told.attachments[0]?.fields.map(({ value }) => value)).toEqual([
      '&lt;b&gt; &amp; co',
      'error_rate',
      '0.4',
      '0.3',
    ]);
  });

  test('as an adaptive card', () => {
    expect(body('teams')).toMatchObject({
      type: 'message',
      attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content: { type: 'AdaptiveCard' } }],
    });
  });

  test('as a PagerDuty event: recovery resolves the incident, a test does neither', () => {
    const [begun, over, tested] = (['alert_firing', 'alert_resolved', 'alert_test'] as const).map((event) =>
      body('pagerduty', { event, text: 'x'.repeat(5000) }),
    ) as { event_action: string; dedup_key: string; routing_key: string; payload: { summary: string } }[];
    expect([begun?.event_action, over?.event_action]).toEqual(['trigger', 'resolve']);
    expect(begun?.dedup_key).toBe(over?.dedup_key ?? '');
    expect(tested?.dedup_key).not.toBe(begun?.dedup_key ?? '');
    expect([begun?.routing_key, begun?.payload.summary.length]).toEqual(['R123', 1024]);
  });
});
