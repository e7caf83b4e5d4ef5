export async function newKey(url: string): Promise<string> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}/v1/keys`, { method: "POST", headers, body: "{}" });
  const { key } = (await response.json()) as { readonly key: string };
  return key;
}
