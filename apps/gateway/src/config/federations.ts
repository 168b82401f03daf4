import { ConfigError, type EnvReader } from './values';

interface FederationEnv {
  readonly headers: Readonly<Record<string, string>>;
  /** Field of the body with the identity token. */
  readonly tokenField: string;
  /** Reads the address of the exchange. */
  readonly url: (read: EnvReader) => string;
  readonly fileSetting: string;
  /** Setting by field of the body; the first one turns the exchange on. */
  readonly needs: readonly (readonly [field: string, setting: string])[];
  readonly may?: readonly (readonly [field: string, setting: string])[];
  readonly fixed: Readonly<Record<string, string>>;
}

const GRANT = 'urn:ietf:params:oauth:grant-type';

/** By provider; a vendor that offers an exchange is one entry here. */
const FEDERATIONS: Readonly<Record<string, FederationEnv>> = {
  /** Source: https://developers.openai.com/api/reference/workload-identity-federation */
  openai: {
    url: (read) => read.url('OPENAI_TOKEN_URL') ?? 'https://auth.openai.com/oauth/token',
    headers: {},
    fileSetting: 'OPENAI_IDENTITY_TOKEN_FILE',
    tokenField: 'subject_token',
    needs: [
      ['identity_provider_id', 'OPENAI_IDENTITY_PROVIDER_ID'],
      ['service_account_id', 'OPENAI_SERVICE_ACCOUNT_ID'],
    ],
    fixed: { grant_type: `${GRANT}:token-exchange`, subject_token_type: 'urn:ietf:params:oauth:token-type:jwt' },
  },
  /** Source: https://platform.claude.com/docs/en/manage-claude/wif-reference */
  anthropic: {
    url: (read) =>
      `${(read.url('ANTHROPIC_BASE_URL') ?? 'https://api.anthropic.com').replace(/\/v1$/, '')}/v1/oauth/token`,
    headers: { 'anthropic-beta': 'oauth-2025-04-20,oidc-federation-2026-04-01' },
    fileSetting: 'ANTHROPIC_IDENTITY_TOKEN_FILE',
    tokenField: 'assertion',
    needs: [
      ['federation_rule_id', 'ANTHROPIC_FEDERATION_RULE_ID'],
      ['organization_id', 'ANTHROPIC_ORGANIZATION_ID'],
      ['service_account_id', 'ANTHROPIC_SERVICE_ACCOUNT_ID'],
    ],
    may: [['workspace_id', 'ANTHROPIC_WORKSPACE_ID']],
    fixed: { grant_type: `${GRANT}:jwt-bearer` },
  },
};

/** Exchanges that the environment configures, by provider. */
export function readFederations(read: EnvReader) {
  const found = Object.entries(FEDERATIONS).flatMap(([name, of]) => {
    const federation = readFederation(read, of);
    return federation === undefined ? [] : [[name, federation] as const];
  });
  return Object.fromEntries(found);
}

/** See `Federation` of the secrets. */
function readFederation(
  read: EnvReader,
  { url: readUrl, fileSetting, needs, may = [], fixed, headers, tokenField }: FederationEnv,
) {
  const values = [...needs, ...may].map(([field, setting]) => ({ field, setting, value: read.text(setting) }));
  const tokenFile = read.text(fileSetting);
  const [first] = values;
  if (first?.value === undefined) {
    const stray = [...values.map(({ setting, value }) => [setting, value] as const), [fileSetting, tokenFile] as const];
    for (const [setting, value] of stray)
      if (value !== undefined) read.warnings.add(`${setting} has no effect without ${first?.setting}`);
    return undefined;
  }
  const needed = values.slice(0, needs.length).find(({ value }) => value === undefined)?.setting;
  if (needed !== undefined) throw new ConfigError(needed, '', `it is needed beside ${first.setting}`);
  if (tokenFile === undefined) throw new ConfigError(fileSetting, '', `a file is needed beside ${first.setting}`);
  const url = readUrl(read);
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'https:' && !/^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname))
    throw new ConfigError(first.setting, '***', `the exchange at ${url} needs https`);
  const given = values.flatMap(({ field, value }) => (value === undefined ? [] : [[field, value] as const]));
  return {
    ...{ url, headers, tokenFile, fileSetting, tokenField },
    body: { ...fixed, ...Object.fromEntries(given) },
    settings: values.map(({ setting }) => setting),
  };
}
