import { CallRefusal } from '../endpoint/mcp-errors';

/** As the protocol names it: what is asked needs something of the user first, at a URL. */
export const URL_ELICITATION_REQUIRED = -32_042;

export interface ConsentLink {
  readonly id: string;
  readonly url: string;
}

/** Somebody must let the gateway use a server in their name before the call can be made: nothing has run. */
export class ConsentNeeded extends CallRefusal {
  constructor(
    readonly alias: string,
    readonly link: ConsentLink,
  ) {
    const message = `"${alias}" needs the consent of its user first: open ${link.url}, then try again.`;
    const elicitation = { mode: 'url', elicitationId: link.id, url: link.url, message: askFor(alias) };
    super('permission_denied', message, {
      code: URL_ELICITATION_REQUIRED,
      data: { type: 'consent_required', elicitations: [elicitation] },
    });
  }
}

export const askFor = (alias: string): string => `Let "${alias}" be used in your name.`;
