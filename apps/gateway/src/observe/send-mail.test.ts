import { expect, test } from 'bun:test';
import { readEgressAllow } from '@llm0/providers/transport/egress/egress-allow';
import { startMailServer } from './mail-server.fixture';
import { createPostWebhook } from './post-webhook';
import { createSendMail } from './send-mail';

const EGRESS = readEgressAllow([]);

test('an alert goes to each address, from the sender of the settings', async () => {
  const server = await startMailServer({ refuses: 'nobody@example.com' });
  try {
    const sendMail = createSendMail({ url: server.url, from: 'llm0@example.com' });
    const post = createPostWebhook({ fetch, egress: EGRESS, sendMail });
    const text = 'Alert: budget: 95.0 % of the month budget of team Search is used';
    await post('mailto:ann@example.com,ben@example.com', { event: 'alert_firing', text });
    expect(server.mails).toEqual([
      {
        ...{ from: 'llm0@example.com', to: ['ann@example.com', 'ben@example.com'] },
        text: expect.stringContaining(`Subject: ${text}`),
      },
    ]);
    await post('mailto:ann@example.com', { text: 'Alert: many', details: ['one of them', 'another'] });
    expect(server.mails.at(-1)?.text).toContain('- one of them\r\n- another');
    await expect(post('mailto:ann@example.com,nobody@example.com', { text })).rejects.toThrow('nobody@example.com');
  } finally {
    await server.stop();
  }
  await expect(createSendMail({ url: server.url, from: 'a@b.c' })('mailto:x@y.z', {})).rejects.toThrow();
  await expect(createSendMail(undefined)('mailto:x@y.z', {})).rejects.toThrow('SMTP_URL is not set');
});
