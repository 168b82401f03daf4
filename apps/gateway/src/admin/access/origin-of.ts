/** Scheme and host as the client sees them. The issuer knows which addresses may get a code. */
export function originOf(request: Request): string {
  const url = new URL(request.url);
  const isSecure = request.headers.get('x-forwarded-proto') === 'https';
  return `${isSecure ? 'https:' : url.protocol}//${request.headers.get('host') ?? url.host}`;
}
