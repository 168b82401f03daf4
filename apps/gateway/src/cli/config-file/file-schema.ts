import { z } from '@hono/zod-openapi';

const list = z.array(z.record(z.string(), z.unknown())).nullish();

/** The file as a whole; entries have the admin API's schemas. */
export const fileSchema = z.strictObject({
  version: z.literal(1, 'must be 1'),
  teams: list,
  projects: list,
  providers: list,
  chains: list,
  aliases: list,
  models: list,
  mcp_servers: list,
  backends: list,
  alerts: list,
  tokens: list,
});

const name = z.string().min(1, 'must not be empty').max(1000);

/** Source of the secret of a key or token, or the file that a new one goes to. */
export const keySecretSchema = z.union(
  [
    z.strictObject({ env: name }),
    z.strictObject({ file: name }),
    z.strictObject({ reference: name.regex(/^(?:vault|aws-sm|gcp-sm):/) }),
    z.strictObject({ write_to: name }),
  ],
  'must be one of {env: NAME}, {file: PATH}, {reference: vault:…, aws-sm:… or gcp-sm:…} and {write_to: PATH or reference}',
);
export type KeySecret = z.infer<typeof keySecretSchema>;
