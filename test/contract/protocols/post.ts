import { expectDescribed } from "../../openapi/described.ts";
import type { Plain } from "./protocol.ts";

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Plain;
}

/** Posts an object as JSON, or posts a string unchanged. Throws if the response does not match the OpenAPI document. */
export async function post(
  url: string,
  body: Plain | string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>> = { "Content-Type": "application/json" },
): Promise<Reply> {
  const raw = typeof body === "string" || body instanceof Uint8Array;
  const init = { method: "POST", headers, body: raw ? body : JSON.stringify(body) };
  return replyFrom(init.method, url, await fetch(url, init));
}

export async function get(url: string, init: RequestInit = {}): Promise<Reply> {
  return replyFrom(init.method ?? "GET", url, await fetch(url, init));
}

async function replyFrom(method: string, url: string, response: Response): Promise<Reply> {
  const { status, headers } = response;
  const body = (await response.json()) as Plain;
  expectDescribed(method, url, response, body);
  return { status, headers, body };
}
