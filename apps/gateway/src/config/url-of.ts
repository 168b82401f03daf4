/** As this machine itself reaches it. */
export function urlOf(isTls: boolean, host: string, port: number): string {
  const own = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `${isTls ? 'https' : 'http'}://${own.includes(':') ? `[${own}]` : own}:${port}`;
}
