import { ConfigError, type EnvReader } from './values';

/** The server that takes mail of alerts, and the sender; undefined without `SMTP_URL`. */
export function readMail(read: EnvReader): { readonly url: string; readonly from: string } | undefined {
  const url = read.text('SMTP_URL');
  const from = read.text('SMTP_FROM');
  if (url === undefined) return undefined;
  if (!URL.canParse(url) || !/^smtps?:$/.test(new URL(url).protocol)) {
    throw new ConfigError('SMTP_URL', '…', 'must be a URL such as smtps://user:password@mail.example.com');
  }
  return { url, from: from ?? `llm0-gateway@${new URL(url).hostname}` };
}
