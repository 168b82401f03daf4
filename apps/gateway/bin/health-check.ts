// What the container's health check runs: exit code 0 while the gateway beside it is alive, in TLS where it speaks TLS.
import { EnvReader } from '../src/config/values';

const read = new EnvReader(process.env);
const scheme = read.flag('TLS_ENABLED', false) ? 'https' : 'http';
const url = `${scheme}://127.0.0.1:${read.text('PORT') ?? 8080}/livez`;
// The certificate is made out to a name of the outside, not to this address.
const answer = await fetch(url, { tls: { rejectUnauthorized: false } }).catch(() => undefined);
process.exit(answer?.ok === true ? 0 : 1);
