import { createHmac } from 'node:crypto';

/** What a project's webhooks are signed with, made from a secret of its own: whoever knows one does not know the other. */
export const webhookSecret = (projectSecret: string): Uint8Array =>
  createHmac('sha256', projectSecret).update('guardrail webhooks').digest();

/** As libraries for Standard Webhooks take it. */
export const showWebhookSecret = (secret: Uint8Array): string => `whsec_${Buffer.from(secret).toString('base64')}`;
