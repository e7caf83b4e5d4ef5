import type { Caller, Plain } from "./caller.ts";

/** What a tool has found. */
export interface ToolAnswer {
  /** What a model reads. */
  readonly text: string;
  /** What a program reads; by the tool's output schema. */
  readonly structured: Plain;
}

/** Tells how far a call is. `progress` rises with every word. */
export type Report = (step: { progress: number; total?: number; message: string }) => void;

/** One thing that an agent can ask. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  /** For the model that is to choose it. */
  readonly description: string;
  /** JSON Schema 2020-12, of an object. */
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  /** @throws KibitzError whose faults point into the arguments */
  call(args: Plain, caller: Caller, report?: Report): Promise<ToolAnswer>;
  /** Resolves where `call` would be answered, as far as that is known without asking an engine. */
  judge(args: Plain, caller: Caller): Promise<void>;
  /** A request that the service has suggested, as arguments of this tool; undefined where the tool cannot ask it. */
  argumentsOf?(request: Plain): Plain | undefined;
  /** Arguments without what is at fault, where that is how they are mended. @param pointers of the faults */
  without?(args: Plain, pointers: readonly string[]): Plain | undefined;
}

/** A JSON Schema, or what stands in one. */
type SchemaValue = string | number | boolean | null | SchemaValue[] | Schema;

export interface Schema {
  [keyword: string]: SchemaValue;
}

export interface ObjectSchema extends Schema {
  type: "object";
  properties: Record<string, Schema>;
  required: string[];
  additionalProperties: false;
}

/** A schema of an object that has these properties and no others. @param optional those that may be missing */
export function objectSchema(
  properties: Record<string, Schema>,
  optional: readonly string[] = [],
): ObjectSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties, required, additionalProperties: false };
}

/** What may be null instead. */
export function nullable({ type = "object", ...schema }: Schema): Schema {
  return { ...schema, type: [type, "null"] };
}

export function listOf(items: Schema): Schema {
  return { type: "array", items };
}
