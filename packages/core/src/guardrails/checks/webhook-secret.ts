import { createHmac } from 'node:crypto';

/** Signing key of a project's webhooks, derived from its secret. Neither one reveals the other. */
export const webhookSecret = (projectSecret: string): Uint8Array =>
  createHmac('sha256', projectSecret).update('guardrail webhooks').digest();

/** Format of Standard Webhooks libraries. */
export const showWebhookSecret = (secret: Uint8Array): string => `whsec_${Buffer.from(secret).toString('base64')}`;
