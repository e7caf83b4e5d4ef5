import type { JsonObject } from "@bufbuild/protobuf";
import type { Plain } from "./protocol.ts";

/**
 * The enums of the API. The values of an enum differ between plain JSON and ProtoJSON. The service reads this list from the
 * descriptors, but the tests need a list that is independent of the service.
 */
const enums = [
  "BOUND",
  "CASTLING_SIDE",
  "COLOR",
  "DRAW_CLAIM",
  "ENGINE_STATUS",
  "GAME_PHASE",
  "JUDGEMENT",
  "MOVE_LABEL",
  "NET_SIZE",
  "PATH",
  "PROMOTION_PIECE",
  "STOP_REASON",
  "TERMINAL_REASON",
  "VARIANT",
];
const enumName = new RegExp(`^(?:${enums.join("|")})_([A-Z0-9_]+)$`);

/** ProtoJSON writes these 64-bit numbers as strings. */
const counters = ["clock_ms", "nodes", "nodes_max", "nps", "tbhits", "quota", "remaining", "time_ms"];

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
