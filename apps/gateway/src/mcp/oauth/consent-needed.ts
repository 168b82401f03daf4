import { CallRefusal } from '../endpoint/mcp-errors';

/** JSON-RPC error code: the call needs the user at a URL first. */
export const URL_ELICITATION_REQUIRED = -32_042;

export interface ConsentLink {
  readonly id: string;
  readonly url: string;
}

/** The call needs a user's consent first; nothing ran. */
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
