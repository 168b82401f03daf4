/** Client information that the gateway sends to servers. */
export interface Credentials {
  /** Throws if a consent is missing. */
  headers(): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  /** The server refused them (401, or 403 for want of scope). True where others can be tried. */
  refused(response: Response): Promise<boolean>;
}

/** The operator's static headers, for every caller. */
export const staticCredentials = (headers: Readonly<Record<string, string>>): Credentials => ({
  headers: () => headers,
  refused: async () => false,
});
