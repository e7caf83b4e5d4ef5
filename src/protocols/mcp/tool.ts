import type { Plain } from "../../text/plain-text.ts";
import type { Caller } from "./caller.ts";
import type { ObjectSchema } from "./schema.ts";

/** The answer of a tool. */
export interface ToolAnswer {
  /** For models. */
  readonly text: string;
  /** For programs: the properties of the tool's output schema except `turn` and `board`. Other properties are not sent. */
  readonly structured: Plain & { readonly fen: string };
}

/** Reports the progress of a call. `progress` rises with every report. */
export type Report = (step: { progress: number; total?: number; message: string }) => void;

/** A tool that an agent can call. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  /** For the model that chooses a tool. */
  readonly description: string;
  /** JSON Schema 2020-12, of an object. */
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  /** @param args some of `inputSchema`, with values of any type @throws KibitzError whose faults point into the arguments */
  call(args: Plain, caller: Caller, report?: Report): Promise<ToolAnswer>;
  /** A request that the service has suggested, as arguments of this tool; undefined if the tool cannot send it. */
  argumentsOf?(request: Plain): Plain | undefined;
}
