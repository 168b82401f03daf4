/** Client information that the gateway sends to servers. */
export interface Credentials {
  /** Throws where somebody must give consent first. */
  headers(): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  /** The server refused them (401, or 403 for want of scope). True where others can be tried. */
  refused(response: Response): Promise<boolean>;
}

/** The same for everybody, as the operator set them. */
export const staticCredentials = (headers: Readonly<Record<string, string>>): Credentials => ({
  headers: () => headers,
  refused: async () => false,
});
