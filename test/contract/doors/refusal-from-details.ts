import { expect } from "vitest";
import type { Refusal } from "./door.ts";

/** The fields of google.rpc.ErrorInfo, whoever decoded it. */
export interface ErrorInfo {
  readonly reason: string;
  readonly domain: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** What the typed details of an RPC error say. Every error has an ErrorInfo, and it agrees with itself. */
export function refusalFromDetails(
  message: string,
  info: ErrorInfo | undefined,
  faults: Refusal["faults"] = [],
): Refusal {
  expect(info, `the error "${message}" has an ErrorInfo`).toBeDefined();
  const { reason = "", domain = "", metadata = {} } = info ?? {};
  expect(domain).toBe("kibitz");
  expect(reason).toBe(metadata.code?.toUpperCase());
  expect(Object.keys(metadata).toSorted()).toEqual(["code", "next_action", "request_id"]);
  const { code = "", next_action: nextAction = "", request_id: requestId = "" } = metadata;
  return { code, message, nextAction, requestId, faults };
}

/** `moves[3]` of google.rpc.BadRequest as a JSON Pointer: `/moves/3`. */
export function pointerFromFieldPath(path: string): string {
  return `/${path.replace(/\[(\d+)\]/g, "/$1").replace(/^(options)\./, "$1/")}`;
}
