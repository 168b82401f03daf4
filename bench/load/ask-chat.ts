/** One chat completion by itself; resolves when all of the answer is there. */
export async function askChat(url: string, apiKey: string, content: string) {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] }),
  });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}
