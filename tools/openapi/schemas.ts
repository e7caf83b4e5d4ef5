import type { DescEnum, DescMessage } from "@bufbuild/protobuf";
import { type Json, refTo } from "./json.ts";
import type { Refer } from "./schema-of-field.ts";
import { schemaOfAnswer, schemaOfEnum, schemaOfRequest } from "./schema-of-message.ts";

export interface Schemas {
  readonly inRequest: Refer;
  /** In a response, the schema of an enum allows any text, because newer services can add words. */
  readonly inAnswer: Refer;
  all(): Json;
}

interface Made {
  readonly desc: DescMessage | DescEnum;
  readonly role: "request" | "answer" | "both";
  schema: Json;
}

/** Renames types that end with `Response`, because oapi-codegen uses this ending for its own types. */
export function schemaName({ name }: DescMessage | DescEnum): string {
  return name.replace(/Response$/, "Result");
}

export function createSchemas(): Schemas {
  const made = new Map<string, Made>();

  const refer = (role: "request" | "answer"): Refer => {
    const referTo: Refer = (desc) => {
      const name = schemaName(desc);
      const known = made.get(name);
      if (known === undefined) {
        const one: Made = { desc, role: desc.kind === "enum" ? "both" : role, schema: {} };
        // Store the schema before its fields are read, because a message may contain itself.
        made.set(name, one);
        one.schema = schemaOf(desc, role, referTo);
      } else if (known.desc !== desc || (known.role !== "both" && known.role !== role)) {
        // Only responses allow additional properties, so requests and responses cannot use the same type.
        throw new Error(`${desc} and ${known.desc} (in a ${known.role}) need two schemas of one name`);
      }
      const ref = refTo("schemas", name);
      return desc.kind === "enum" && role === "answer" ? { anyOf: [ref, { type: "string" }] } : ref;
    };
    return referTo;
  };

  return {
    inRequest: refer("request"),
    inAnswer: refer("answer"),
    all: () =>
      Object.fromEntries([...made].map(([name, { schema }]) => [name, schema] as const).toSorted(byName)),
  };
}

function schemaOf(desc: DescMessage | DescEnum, role: "request" | "answer", refer: Refer): Json {
  if (desc.kind === "enum") {
    return schemaOfEnum(desc);
  }
  return role === "request" ? schemaOfRequest(desc, refer) : schemaOfAnswer(desc, refer);
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
