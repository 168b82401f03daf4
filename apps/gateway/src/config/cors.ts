import { ConfigError, type EnvReader } from './values';

const NAME = 'CORS_ORIGINS';

/** Browser origins for the data plane (`https://app.example.com`), or `*`; empty by default. */
export function readCorsOrigins(read: EnvReader): readonly string[] {
  const entries = (read.text(NAME) ?? '').split(/[\s,]+/).filter((entry) => entry !== '');
  return entries.map((entry) => {
    if (entry === '*') return entry;
    const url = URL.canParse(entry) ? new URL(entry) : undefined;
    // Apps in shells of their own have origins of their own schemes, which URL calls opaque.
    if (url !== undefined && /^[a-z][a-z0-9+.-]*:\/\/[^/?#@*]+\/?$/i.test(entry)) {
      return url.origin === 'null' ? entry.replace(/\/$/, '').toLowerCase() : url.origin;
    }
    throw new ConfigError(NAME, entry, 'origins such as https://app.example.com, separated by commas, or * are needed');
  });
}
