import { errorCodes, errorKind } from "../../src/errors/catalog.ts";
import { problemTypeOf } from "../../src/errors/problem.ts";
import type { Json } from "./json.ts";

/** Lists the error codes and actions only as examples, because newer services may have others. */
export function schemaOfProblem(schema: Json): Json {
  const properties = schema.properties as Readonly<Record<string, Json>>;
  const actions = new Set(errorCodes.map((code) => errorKind(code).nextAction));
  return {
    ...schema,
    description: `${schema.description}\n\n${tableOfErrors()}`,
    properties: {
      ...properties,
      code: { ...properties.code, examples: errorCodes },
      next_action: { ...properties.next_action, examples: [...actions] },
    },
  };
}

function tableOfErrors(): string {
  const rows = errorCodes.map((code) => {
    const { status, nextAction, title } = errorKind(code);
    return `| ${status} | [\`${code}\`](${problemTypeOf(code)}) | \`${nextAction}\` | ${title} |`;
  });
  return `| status | code | next_action | meaning |\n|---|---|---|---|\n${rows.join("\n")}`;
}
