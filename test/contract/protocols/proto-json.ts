import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Plain } from "./protocol.ts";

/** The proto files as text, because these tests must not read the API from the descriptors as the service does. */
const protoFiles = globSync(fileURLToPath(new URL("../../../proto/chess/**/*.proto", import.meta.url)))
  .map((path) => readFileSync(path, "utf8"))
  .join("\n");
const namesIn = (pattern: RegExp) => [
  ...new Set([...protoFiles.matchAll(pattern)].map(([, name = ""]) => name)),
];

/** The values of an enum differ between plain JSON and ProtoJSON. */
const enums = namesIn(/^ *enum (\w+) \{/gm).map((name) => name.replace(/\B[A-Z]/g, "_$&").toUpperCase());
const enumName = new RegExp(`^(?:${enums.join("|")})_([A-Z0-9_]+)$`);

/** ProtoJSON writes 64-bit numbers as strings. */
const counters = namesIn(/\bu?int64>? (\w+) =/g);

/** Converts enum names to words and 64-bit strings to numbers. Null values are removed. */
export function plainFromProtoJson(json: object): Plain {
  return plainOf(json) as Plain;
}

function plainOf(value: unknown, name?: string): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => plainOf(item, name));
  }
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== null);
    return Object.fromEntries(members.map(([key, member]) => [key, plainOf(member, key)]));
  }
  if (typeof value === "string" && name !== undefined && counters.includes(name)) {
    return Number(value);
  }
  return typeof value === "string" ? (enumName.exec(value)?.[1]?.toLowerCase() ?? value) : value;
}

export function protoJsonFromPlain(request: Plain): JsonObject {
  const { path, requests } = request;
  return {
    ...request,
    ...(typeof path === "string" && { path: `PATH_${path.toUpperCase()}` }),
    ...(Array.isArray(requests) && { requests: requests.map(protoJsonFromPlain) }),
  } as JsonObject;
}
