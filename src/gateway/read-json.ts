import { errorFromFaults, KibitzError } from "../errors/errors.ts";
import type { BodyBudget } from "../server/body-budget.ts";
import type { NodeRequest } from "../server/node-message.ts";
import { parseJsonObject } from "./codec/json-text.ts";
import { isJson } from "./media-types.ts";
import { readBody } from "./read-body.ts";
import { refuseQuery } from "./refuse-query.ts";

/** The JSON object that a body is; or nobody waits for an answer any more. */
export type JsonReading =
  | { readonly kind: "json"; readonly sent: Readonly<Record<string, unknown>> }
  | { readonly kind: "left" };

/**
 * The reader of bodies that are one JSON object. It throws a KibitzError for what is none.
 *
 * @param required names of the fields that the object cannot do without, for who sends nothing
 */
export function createJsonReader(
  required: readonly string[],
  maxBytes: number,
  budget: BodyBudget,
): (req: NodeRequest) => Promise<JsonReading> {
  const wanted = describeLeast(required);
  return async (req) => {
    refuseQuery(req.url);
    if (!isJson(req.headers["content-type"])) {
      throw notJson(req.headers["content-type"]);
    }
    const body = await readBody(req, maxBytes, budget);
    if (body.kind === "left") {
      return body;
    }
    const json = parseJsonObject(body.bytes, wanted);
    if (json.kind === "faults") {
      throw errorFromFaults(json.faults);
    }
    return { kind: "json", sent: json.value };
  };
}

function describeLeast(required: readonly string[]): string {
  if (required.length === 0) {
    return "a JSON object, such as {}";
  }
  return `a JSON object with at least ${required.map((name) => `\`${name}\``).join(", ")}`;
}

function notJson(contentType: string | undefined): KibitzError {
  return new KibitzError(
    "unsupported_media_type",
    `${contentType === undefined ? "The request has no Content-Type" : "The Content-Type is not JSON in UTF-8"}: add the header, in curl with -H 'Content-Type: application/json'.`,
  );
}
