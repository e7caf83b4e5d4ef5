import { type DescMessage, equals } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { AnalysisRequestSchema, PlanSchema } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { EvaluateBatchRequestSchema } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { ReviewGameRequestSchema } from "../../../gen/chess/analysis/v1/game_service_pb.ts";
import { createMessageReader } from "../../../src/calls/plain/read-message.ts";
import { createMessageWriter } from "../../../src/calls/plain/write-message.ts";
import { readJsonObject } from "../../../src/protocols/json/json-text.ts";
import { createRandom } from "../../support/random.ts";
import { randomMessage } from "./random-message.ts";

it.each<DescMessage>([
  AnalysisRequestSchema,
  EvaluateBatchRequestSchema,
  ReviewGameRequestSchema,
  PlanSchema,
])("300 random messages survive conversion to plain JSON and back: $name", (desc) => {
  const read = createMessageReader(desc);
  const write = createMessageWriter(desc);
  const random = createRandom(1972);
  for (let round = 0; round < 300; round++) {
    const message = randomMessage(desc, random);
    const text = write(message);
    const reading = read(readJsonObject(text));
    expect(reading.violations, text).toEqual([]);
    expect(equals(desc, reading.message, message), text).toBe(true);
    expect(write(reading.message)).toBe(text);
  }
});
