/** Shapes of secrets that upstreams like to repeat in their error texts. */
const SECRETS =
  /\b(?:sk-[\w-]{8,}|sk_[\w-]{8,}|llm0_live_[0-9a-f]{16,}|AIza[\w-]{20,}|gsk_\w{16,}|xai-\w{16,}|AKIA[0-9A-Z]{12,})|\bBearer\s+[\w.~+/-]{12,}=*/g;

/** Masks keys in a text that goes to a log or a client. */
export function redactSecrets(text: string): string {
  return text.replace(SECRETS, '[redacted]');
}
