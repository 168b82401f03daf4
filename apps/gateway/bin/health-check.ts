// What the container's health check runs: exit code 0 while the gateway beside it is alive, in TLS where it speaks TLS.
const scheme = /^(?:1|true|yes|on)$/i.test(process.env.TLS_ENABLED ?? '') ? 'https' : 'http';
const url = `${scheme}://127.0.0.1:${process.env.PORT ?? 8080}/livez`;
// The certificate is made out to a name of the outside, not to this address.
const answer = await fetch(url, { tls: { rejectUnauthorized: false } }).catch(() => undefined);
process.exit(answer?.ok === true ? 0 : 1);

export {};
