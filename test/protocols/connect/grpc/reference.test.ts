import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { createEnginesInProcess } from "../../../support/engines-in-process.ts";
import { rateOf, usePlansFile } from "../../../support/plans-file.ts";
import { useApp } from "../../../support/running-app.ts";
import { askOverWire, type WireAnswer, type WireRequest } from "./ask.ts";
import { bad, good, hostile, type WireCase } from "./corpus.ts";

/** The door of gRPC takes the first; the other, which means the same, is Connect's. See README.md. */
const lean = "application/grpc+proto";
const reference = "application/grpc+PROTO";

const plans = usePlansFile({
  id: "keyless",
  limits: {
    depth_max: 18,
    multipv_max: 10,
    rates: [rateOf("minute", 100_000, 60), rateOf("refused", 100_000, 60, "refusal")],
  },
});
const app = useApp(
  { KIBITZ_ACCESS: "public", KIBITZ_PLANS: plans },
  { engines: createEnginesInProcess({ quickPlies: 10 }) },
);

const deadlineExceeded = String(Code.DeadlineExceeded);

const detailsBin = "grpc-status-details-bin";

const uuid = /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g;

/** What two equal calls may be answered differently: README.md says why. */
function comparable({ headers, body, trailers, ...rest }: WireAnswer) {
  const { date, ratelimit, traceparent, ...same } = headers;
  const { [detailsBin]: details, ...told } = trailers;
  const status = trailers["grpc-status"];
  return {
    ...rest,
    status,
    trailers: told,
    details: Buffer.from(details?.toString() ?? "", "base64")
      .toString("latin1")
      .replaceAll(uuid, "an id"),
    body: status === deadlineExceeded ? "as far as it got" : body.replaceAll(uuid, "an id"),
    headers: {
      ...same,
      date: typeof date,
      ratelimit: ratelimit?.toString().replaceAll(/;[rt]=\d+/g, ""),
      traceparent: traceparent?.toString().replace(/-[\da-f]{16}-/, "-a span-"),
    },
  };
}

async function ask(request: WireRequest, type: string) {
  const headers = { "x-request-id": "mine", ...request.headers };
  return comparable(await askOverWire(app.url, { ...request, headers }, type));
}

function compare(cases: readonly WireCase[]): void {
  test.each(cases)("%s", async (_, request, status) => {
    // What is cached differs from what was searched.
    await ask(request, reference);
    const expected = await ask(request, reference);
    expect(expected.status).toBe(status);
    for (const type of [lean, "application/grpc"]) {
      expect(await ask(request, type)).toEqual(expected);
    }
  });
}

test.each([lean, reference])("the long answers of the corpus are packed: %s", async (type) => {
  const request = good.find(([name]) => name === "gzip in the answer")?.[1];
  const { headers, body } = await ask(request ?? { path: "", body: [] }, type);
  expect(headers).toMatchObject({ "grpc-encoding": "gzip" });
  expect(body.charCodeAt(0)).toBe(1);
});

describe("the answers of Connect's handlers are those of the door of gRPC", () => {
  describe("to good requests", () => compare(good));
  describe("to bad ones", () => compare(bad));
  describe("to hostile ones", () => compare(hostile));
});
