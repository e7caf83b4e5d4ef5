import { create, type Message } from "@bufbuild/protobuf";
import { createRouterTransport, type Interceptor } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { AnalysisRequestSchema } from "../../gen/chess/analysis/v1/analysis_pb.ts";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { validate } from "../../src/calls/chain.ts";
import { createCalls, type Implementation } from "../../src/calls/invoke.ts";
import { createRules } from "../../src/calls/rules.ts";
import { KibitzError } from "../../src/errors/errors.ts";
import { localContext } from "../../src/request/context.ts";

const method = AnalysisService.method.streamEvaluate;
const request = create(AnalysisRequestSchema, { fen: "a fen" });
const context = { request: localContext(), signal: new AbortController().signal };

const implementing = (streamEvaluate: (message: Message) => AsyncIterable<unknown>): Implementation => ({
  service: AnalysisService,
  methods: { streamEvaluate } as never,
});
const answering = implementing(async function* () {
  yield { event: { case: "evaluation", value: { summary: "one" } } };
  yield { event: { case: "queued", value: {} } };
});

describe("a lean stream", () => {
  test("a direct stream runs the interceptors in the order of Connect, and they see the same", async () => {
    const recorder =
      (name: string, seen: unknown[]): Interceptor =>
      (next) =>
      async (asked) => {
        seen.push(name, asked.stream, asked.url.replace(/^https?:\/\/[^/]*/, ""), asked.method.name);
        const response = await next(asked);
        seen.push(name, response.stream, response.service.typeName);
        return response;
      };
    const lean: unknown[] = [];
    const byConnect: unknown[] = [];
    const chain = (seen: unknown[]) => ["outer", "inner"].map((name) => recorder(name, seen));

    await Array.fromAsync(createCalls([answering], chain(lean)).stream(method)(request, context));
    const transport = createRouterTransport(
      ({ service }) => service(AnalysisService, answering.methods as never),
      { router: { interceptors: chain(byConnect) } },
    );
    const input = (async function* () {
      yield request;
    })();
    const response = await transport.stream(method, undefined, undefined, undefined, input);
    await Array.fromAsync(response.message);
    expect(lean).toEqual(byConnect);
  });

  test("a direct stream yields whole messages", async () => {
    const answers = await Array.fromAsync(createCalls([answering], []).stream(method)(request, context));
    expect(answers).toMatchObject([
      {
        $typeName: "chess.analysis.v1.StreamEvaluateResponse",
        event: {
          case: "evaluation",
          value: { $typeName: "chess.analysis.v1.EvaluateResponse", summary: "one", lines: [] },
        },
      },
      { event: { case: "queued", value: { place: 0 } } },
    ]);
  });

  test("a direct stream is refused by the rules of the proto before its method is called", async () => {
    const asked = implementing(() => expect.fail("asked"));
    const call = createCalls([asked], [validate(createRules())]).stream(method);
    const answers = call(create(AnalysisRequestSchema, { fen: "x", depth: 99 }), context);
    await expect(Array.fromAsync(answers)).rejects.toBeInstanceOf(KibitzError);
  });

  test("a direct stream aborts its method's signal when its reader leaves", async () => {
    let left = false;
    const leaving = implementing(async function* () {
      try {
        yield {};
        yield {};
      } finally {
        left = true;
      }
    });
    for await (const _ of createCalls([leaving], [validate(createRules())]).stream(method)(
      request,
      context,
    )) {
      break;
    }
    expect(left).toBe(true);
  });

  test("a direct stream without an implementation fails at the start, not in a call", () => {
    expect(() => createCalls([answering], []).stream(AnalysisService.method.evaluate)).toThrow(
      "chess.analysis.v1.AnalysisService.Evaluate has no answer as a stream",
    );
  });
});
