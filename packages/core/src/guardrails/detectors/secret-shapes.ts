import { isAlphanumeric, isDigit } from '../span';

interface SecretShape {
  readonly kind: string;
  /** Its prefix. */
  readonly heads: string;
  /** Least number of characters after the prefix. */
  readonly least: number;
}

/** Keys by vendors' prefixes. Source: the vendors' own documents on their keys. */
const HEADS: readonly SecretShape[] = [
  { kind: 'gateway_key', heads: 'llm0_live_ llm0_admin_', least: 16 },
  {
    kind: 'api_key',
    heads:
      'sk- sk_live_ sk_test_ rk_live_ rk_test_ pk_live_ pk_test_ whsec_ gsk_ xai- pplx- hf_ r8_ tgp_ fw_ nvapi- tvly- llx- ABSK ' +
      'bedrock-api-key- xkeysib- lin_api_ ntn_ figd_ PMAK- PMAT- RGAPI- waka_ nyk_v0_ CFPAT- tfp_ phc_ phx_ phs_ pha_ phr_ cosmo_ ' +
      'sbp_ cfat_ cfut_ cfk_ lsv2_pt_ lsv2_sk_',
    least: 16,
  },
  { kind: 'google_key', heads: 'AIza GOCSPX- ya29. 1//0', least: 20 },
  { kind: 'aws_key', heads: 'AKIA ASIA ABIA ACCA', least: 16 },
  { kind: 'aws_key', heads: 'da2- amzn.mws.', least: 24 },
  { kind: 'alibaba_key', heads: 'LTAI', least: 12 },
  { kind: 'akamai_key', heads: 'akab-', least: 30 },
  { kind: 'github_token', heads: 'ghp_ gho_ ghu_ ghs_ ghr_ github_pat_', least: 30 },
  {
    kind: 'gitlab_token',
    heads:
      'glpat- gldt- glrt- glptt- glft- gloas- glcbt- glimt- glagent- glsoat- glffct- glrtr- glwt- GR1348941 _gitlab_session=',
    least: 16,
  },
  { kind: 'slack_token', heads: 'xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xoxc- xoxd- xapp-', least: 10 },
  { kind: 'npm_token', heads: 'npm_', least: 30 },
  { kind: 'pypi_token', heads: 'pypi-', least: 30 },
  { kind: 'rubygems_key', heads: 'rubygems_', least: 30 },
  { kind: 'nuget_key', heads: 'oy2', least: 43 },
  { kind: 'clojars_token', heads: 'CLOJARS_', least: 40 },
  { kind: 'docker_token', heads: 'dckr_pat_ dckr_oat_ SWMTKN-1- SWMKEY-1-', least: 20 },
  { kind: 'sendgrid_key', heads: 'SG.', least: 30 },
  { kind: 'shopify_token', heads: 'shpat_ shpss_ shpca_ shppa_ shptka_', least: 30 },
  { kind: 'telegram_token', heads: 'bot', least: 40 },
  { kind: 'digitalocean_token', heads: 'dop_v1_ doo_v1_ dor_v1_ dos_v1_', least: 40 },
  { kind: 'dynatrace_token', heads: 'dt0', least: 60 },
  { kind: 'doppler_token', heads: 'dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.', least: 40 },
  { kind: 'square_token', heads: 'sq0atp- sq0csp- sq0idp- sq0', least: 22 },
  { kind: 'paypal_token', heads: 'access_token$production$ access_token$sandbox$', least: 40 },
  { kind: 'atlassian_token', heads: 'ATATT3xFf ATCTT3xFf', least: 60 },
  { kind: 'bitbucket_token', heads: 'ATBB BBDC-', least: 30 },
  { kind: 'jfrog_token', heads: 'AKCp cmVmdGtuO', least: 50 },
  { kind: 'circleci_token', heads: 'CCIPAT_ CCIPRJ_', least: 40 },
  { kind: 'grafana_token', heads: 'glsa_ glc_', least: 30 },
  { kind: 'planetscale_token', heads: 'pscale_tkn_ pscale_oauth_ pscale_pw_', least: 30 },
  { kind: 'newrelic_key', heads: 'NRAK- NRBR- NRII- NRJS-', least: 16 },
  { kind: 'vault_token', heads: 'hvs. hvb. hvr.', least: 20 },
  { kind: 'heroku_key', heads: 'HRKU-', least: 30 },
  { kind: 'pulumi_token', heads: 'pul-', least: 40 },
  { kind: 'sentry_token', heads: 'sntryu_ sntrys_', least: 40 },
  { kind: 'sonar_token', heads: 'sqa_ sqp_ squ_', least: 36 },
  { kind: 'sourcegraph_token', heads: 'sgp_', least: 36 },
  { kind: 'tailscale_key', heads: 'tskey-', least: 30 },
  { kind: 'vercel_token', heads: 'vcp_ nfp_', least: 30 },
  { kind: 'nebula_key', heads: 'dnkey-', least: 60 },
  { kind: 'onepassword_token', heads: 'ops_eyJ', least: 60 },
  { kind: 'age_key', heads: 'AGE-SECRET-KEY-1', least: 40 },
  { kind: 'salesforce_key', heads: '3MVG', least: 24 },
  { kind: 'instagram_token', heads: 'IGQVJ', least: 60 },
  { kind: 'facebook_token', heads: 'EAA', least: 60 },
  { kind: 'x_token', heads: 'AAAAAAAAAAAAAAAAAAAAA', least: 24 },
  { kind: 'ntlm_token', heads: 'TlRMTVNTUAA', least: 28 },
  { kind: 'jwt', heads: 'eyJ', least: 30 },
];

/** Shapes of keys with ambiguous prefixes. */
const SHAPES: readonly (readonly [kind: string, shape: RegExp])[] = [
  ['twilio_key', /^(?:AC|SK)[0-9a-fA-F]{32}$/],
  ['mailgun_key', /^key-[0-9a-z]{32}$/],
  ['mailgun_key', /^[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}$/],
  ['mailchimp_key', /^[0-9a-z]{32}-us\d{1,2}$/],
  ['airtable_key', /^pat[0-9A-Za-z]{14}\.[0-9a-f]{64}$/],
  ['databricks_token', /^dapi[0-9a-f]{32}(?:-\d)?$/],
  ['dropbox_token', /^sl\.(?:u\.)?[\w-]{60,4000}$/],
  ['terraform_token', /^[0-9A-Za-z_-]{14}\.atlasv1\.[\w-]{60,80}$/],
  ['discord_token', /^[MNO][\w-]{22,28}\.[\w-]{6}\.[\w-]{27,40}$/],
  ['telegram_token', /^\d{8,10}:[\w-]{35}$/],
  ['paseto', /^(?:v[1-4]\.(?:local|public)|k[1-4]\.(?:local|secret)(?:-pw)?)\.[\w.-]{15,8000}$/],
  ['azure_secret', /^[\w~.-]{3}8Q~[\w~.-]{31,34}$/],
];

const SHARED = 2;
const BY_BEGINNING = new Map<string, { readonly kind: string; readonly head: string; readonly least: number }[]>();
for (const { kind, heads, least } of HEADS) {
  for (const head of heads.split(' ')) {
    const known = BY_BEGINNING.get(head.slice(0, SHARED)) ?? [];
    BY_BEGINNING.set(head.slice(0, SHARED), [...known, { kind, head, least }]);
  }
}

/** First character codes of the prefixes. */
const FIRST = new Uint8Array(128);
for (const beginning of BY_BEGINNING.keys()) FIRST[beginning.charCodeAt(0)] = 1;

const headOf = (token: string, length: number) =>
  BY_BEGINNING.get(token.slice(0, SHARED))?.find(
    ({ head, least }) => token.startsWith(head) && length - head.length >= least,
  );

/** Vendor of a token by its prefix; undefined without one. Lower-case words with hyphens don't count. */
export function kindByHead(token: string): string | undefined {
  const found = headOf(token, token.length);
  return found !== undefined && isMixed(token, found.head.length) ? found.kind : undefined;
}

/** True if `from` to `at` begins a key that may reach to `end`, and isn't a name. */
export function beginsKey(text: string, from: number, at: number, end: number): boolean {
  const token = text.slice(from, at);
  const found = headOf(token, end - from);
  return found !== undefined && isMixed(token, found.head.length);
}

/** A key after a mark has this many letters and digits in a row; hyphenated words have fewer. */
const LEAST_RUN = 12;
/** Farthest distance from the prefix. */
const MOST_APART = 128;
/** URLs whose path is the key. */
const HOOK = /hooks\.slack\.com\/(?:services|workflows|triggers)\/|discord(?:app)?\.com\/api\/webhooks\//;
const LEAST_HOOK = 20;
/** No shape is shorter. */
const LEAST_SHAPED = 24;

/** Start and vendor of a key after another mark in a token, as in the path of a URL. */
export function keyWithin(token: string): { readonly at: number; readonly kind: string } | undefined {
  const hook = token.includes('.com/') ? HOOK.exec(token) : null;
  if (hook !== null && token.length - hook.index - hook[0].length >= LEAST_HOOK)
    return { at: hook.index + hook[0].length, kind: 'webhook_url' };
  const nextRun = runsOf(token);
  const runBehind = runsOf(token);
  for (let at = 1; at < token.length; at++) {
    if (isAlphanumeric(token.charCodeAt(at - 1)) || !isAlphanumeric(token.charCodeAt(at))) continue;
    // Behind a prefix, the next run is no nearer.
    const isPossible = FIRST[token.charCodeAt(at)] === 1 && nextRun(at) < at + MOST_APART;
    const known = isPossible ? BY_BEGINNING.get(token.slice(at, at + SHARED)) : undefined;
    const found = known?.find(
      ({ head, least }) => token.length - at - head.length >= least && token.startsWith(head, at),
    );
    if (found !== undefined) {
      const from = at + found.head.length;
      const run = runBehind(from);
      const isOneStep = run < at + MOST_APART && !token.slice(from, Math.max(run, from + found.least)).includes('/');
      if (isOneStep) return { at, kind: found.kind };
    }
    const shaped = token[at - 1] === '/' ? kindOfStep(token, at) : undefined;
    if (shaped !== undefined) return { at, kind: shaped };
  }
  return undefined;
}

/** Vendor of a whole path step by its shape. */
function kindOfStep(token: string, at: number): string | undefined {
  const next = token.indexOf('/', at);
  const end = next < 0 ? token.length : next;
  return end - at < LEAST_SHAPED ? undefined : kindByShape(token.slice(at, end));
}

/** Finds the next run with both letters and digits; a left-to-right scan reads everything once. */
function runsOf(token: string): (from: number) => number {
  let [start, end, isRun] = [0, 0, false];
  return (from) => {
    while ((end <= from || !isRun) && end < token.length) {
      start = end;
      while (start < token.length && !isAlphanumeric(token.charCodeAt(start))) start++;
      end = start;
      let digits = 0;
      for (; end < token.length && isAlphanumeric(token.charCodeAt(end)); end++)
        digits += Number(isDigit(token.charCodeAt(end)));
      isRun = end - start >= LEAST_RUN && digits > 0 && digits < end - start;
    }
    return isRun && end > from ? start : Number.POSITIVE_INFINITY;
  };
}

/** Vendor of a whole token by its shape. */
export const kindByShape = (token: string): string | undefined => SHAPES.find(([, shape]) => shape.test(token))?.[0];

/** Digits, or letters of both cases, from `from` on. */
function isMixed(token: string, from: number): boolean {
  let seen = 0;
  for (let at = from; at < token.length; at++) {
    const code = token.charCodeAt(at);
    if (code >= 48 && code <= 57) return true;
    seen |= code >= 97 && code <= 122 ? 1 : code >= 65 && code <= 90 ? 2 : 0;
    if (seen === 3) return true;
  }
  return false;
}
