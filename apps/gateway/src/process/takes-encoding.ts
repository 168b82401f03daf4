/** True if `Accept-Encoding` allows a content coding. Source: RFC 9110, section 12.5.3. */
export function takesEncoding(acceptEncoding: string | undefined, encoding: string): boolean {
  for (const part of (acceptEncoding ?? '').toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    if (name !== encoding) continue;
    return !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  }
  return false;
}
