import type { DescMessage } from "@bufbuild/protobuf";
import { type Json, refTo } from "./json.ts";
import type { Refer } from "./schema-of-field.ts";
import { schemaOfAnswer, schemaOfEnum, schemaOfRequest } from "./schema-of-message.ts";

export interface Schemas {
  readonly inRequest: Refer;
  /** In a response, an enum is a text with known words, because newer services can add words. */
  readonly inAnswer: Refer;
  all(): Json;
}

interface Made {
  readonly desc: DescMessage;
  readonly role: "request" | "answer";
  schema: Json;
}

/** Renames types that end with `Response`, because oapi-codegen uses this ending for its own types. */
export function schemaName({ name }: DescMessage): string {
  return name.replace(/Response$/, "Result");
}

export function createSchemas(): Schemas {
  const made = new Map<string, Made>();

  const refer = (role: "request" | "answer"): Refer => {
    const referTo: Refer = (desc) => {
      // Write an enum inside each field, because some generators cannot combine a reference with null or with other words.
      if (desc.kind === "enum") {
        return schemaOfEnum(desc, role === "request" ? "enum" : "x-extensible-enum");
      }
      const name = schemaName(desc);
      const known = made.get(name);
      if (known === undefined) {
        const one: Made = { desc, role, schema: {} };
        // Store the schema before its fields are read, because a message may contain itself.
        made.set(name, one);
        one.schema = role === "request" ? schemaOfRequest(desc, referTo) : schemaOfAnswer(desc, referTo);
      } else if (known.desc !== desc || known.role !== role) {
        // Only responses allow additional properties, so requests and responses cannot use the same type.
        throw new Error(`${desc} and ${known.desc} (in a ${known.role}) need two schemas of one name`);
      }
      return refTo("schemas", name);
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

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
