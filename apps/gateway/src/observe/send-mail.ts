const TIMEOUT_MS = 10_000;
const MOST_SUBJECT = 150;

/** As `SMTP_URL` and `SMTP_FROM` say. */
export interface MailSettings {
  readonly url: string;
  readonly from: string;
}

/** Sends an alert to the addresses of a `mailto:` URL. Throws unless the server took it for all of them. */
export type SendMail = (url: string, body: object) => Promise<void>;

export const isMailto = (url: string): boolean => url.startsWith('mailto:');

/** Loads the mail client with the first message. */
export function createSendMail(settings: MailSettings | undefined): SendMail {
  return async (url, body) => {
    if (settings === undefined) throw new Error('SMTP_URL is not set');
    const { createTransport } = await import('nodemailer');
    const times = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS };
    const transport = createTransport({ url: settings.url, ...times });
    const text = textOf(body);
    const subject = text.split('\n', 1)[0]?.slice(0, MOST_SUBJECT) ?? '';
    try {
      const { rejected } = await transport.sendMail({ from: settings.from, to: addressesOf(url), subject, text });
      if (rejected.length > 0) throw new Error(`the mail server refused ${rejected.join(', ')}`);
    } finally {
      transport.close();
    }
  };
}

const addressesOf = (url: string): string[] => decodeURIComponent(url.slice('mailto:'.length)).split(',');

/** Every format but PagerDuty's has its sentence in `text`. */
function textOf(body: object): string {
  if (!('text' in body) || typeof body.text !== 'string') return JSON.stringify(body, null, 2);
  const details = 'details' in body && Array.isArray(body.details) ? body.details : [];
  return details.length === 0 ? body.text : [body.text, '', ...details.map((one) => `- ${String(one)}`)].join('\n');
}
