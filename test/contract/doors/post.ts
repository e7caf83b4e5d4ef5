import type { Plain } from "./door.ts";

/** An answer of plain JSON, with all that HTTP says beside it. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Plain;
}

/** Posts a request as JSON, or a text as it is. */
export async function post(
  url: string,
  body: Plain | string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>> = { "Content-Type": "application/json" },
): Promise<Reply> {
  const raw = typeof body === "string" || body instanceof Uint8Array;
  return replyFrom(await fetch(url, { method: "POST", headers, body: raw ? body : JSON.stringify(body) }));
}

export async function get(url: string, init: RequestInit = {}): Promise<Reply> {
  return replyFrom(await fetch(url, init));
}

async function replyFrom(response: Response): Promise<Reply> {
  const { status, headers } = response;
  return { status, headers, body: (await response.json()) as Plain };
}
