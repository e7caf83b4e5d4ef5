import { parse } from "content-type";
import { preferredType } from "../server/preferred-type.ts";

/** Whether a Content-Type says JSON in UTF-8. Parameters that say nothing of the encoding are let pass. */
export function isJson(contentType: string | undefined): boolean {
  if (contentType === "application/json") {
    return true;
  }
  const { type, parameters } = parse(contentType ?? "");
  return type === "application/json" && (parameters.charset ?? "utf-8").toLowerCase() === "utf-8";
}

/** Whether an Accept header lets an answer of this media type pass. */
export function accepts(accept: string | undefined, mediaType: string): boolean {
  return preferredType(accept, [mediaType]) !== undefined;
}

/** Whether an Accept header asks for a media type rather than for the usual one. */
export function prefers(accept: string | undefined, mediaType: string, usual: string): boolean {
  return preferredType(accept, [usual, mediaType]) === mediaType;
}
