import type { Entry } from "../../access/entrance.ts";
import { costOfBytes, errorFromFaults, KibitzError, withCost } from "../../errors/errors.ts";
import type { BodyBudget } from "../../http/body-budget.ts";
import type { NodeRequest } from "../../http/message.ts";
import { type BeginWork, inTurns, type Turn } from "../../thread/time-slicer.ts";
import { explainJsonObject, readJsonObject } from "./codec/json-text.ts";
import { type BodyReading, readBody } from "./read-body.ts";
import { refuseQuery } from "./read-query.ts";
import { isJson } from "./send.ts";

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
  { bodies, beginWork }: JsonReaderOptions,
): (req: NodeRequest, entry: Entry) => Promise<JsonReading> {
  const wanted = describeLeast(required);
  return async (req, entry) => {
    const body = await readJsonBody(req, maxBytes, bodies);
    if (body.kind === "left") {
      return body;
    }
    // While it was sent, others of the same caller may have been refused.
    entry.check();
    const json = readJsonObject(body.bytes);
    switch (json.kind) {
      case "value":
        return { kind: "json", sent: json.value };
      case "faults":
        throw errorFromFaults(json.faults);
      case "unclear":
        throw await errorFromText(
          json.text,
          wanted,
          beginWork(() => entry.check()),
        );
    }
  };
}

export interface JsonReaderOptions {
  /** What all bodies together may take while they are read. */
  readonly bodies: BodyBudget;
  /** Slices of the thread, for what takes long to read. */
  readonly beginWork: BeginWork;
}

/** The bytes of a body that says to be JSON. @throws KibitzError */
export function readJsonBody(req: NodeRequest, maxBytes: number, bodies: BodyBudget): Promise<BodyReading> {
  refuseQuery(req.url);
  if (!isJson(req.headers["content-type"])) {
    throw notJson(req.headers["content-type"]);
  }
  return readBody(req, maxBytes, bodies);
}

/** Why a text is not acceptable JSON. */
export async function errorFromText(text: string, wanted: string, turn: Turn): Promise<KibitzError> {
  const faults = await inTurns(explainJsonObject(text, wanted), turn);
  return withCost(errorFromFaults(faults), costOfBytes(text.length));
}

/** What to send at least, in words. */
export function describeLeast(required: readonly string[]): string {
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
