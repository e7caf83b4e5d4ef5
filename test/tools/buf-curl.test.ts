import { describe, expect, test } from "vitest";
import { useApp } from "../support/running-app.ts";
import { runBuf } from "./go-tools.ts";

const app = useApp();
const service = "chess.analysis.v1.AnalysisService";
const mateInOne = '{"fen": "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1", "depth": 6}';

const protocols = ["grpc", "grpcweb", "connect"];
const reflections = ["grpc-v1", "grpc-v1alpha"];
const ways = protocols.flatMap((protocol) =>
  reflections.map((reflection) => [protocol, reflection] as const),
);

describe.each(ways)("buf curl over %s, reflection by %s, without any proto file", (protocol, reflection) => {
  const curl = (...args: readonly string[]) =>
    runBuf(
      "curl",
      "--protocol",
      protocol,
      "--reflect-protocol",
      reflection,
      "--http2-prior-knowledge",
      ...args,
    );

  test(`buf curl over ${protocol} lists services and methods with reflection by ${reflection}`, async () => {
    const { stdout: services } = await curl("--list-services", app.url);
    expect(services.trim().split("\n")).toEqual([
      service,
      "chess.analysis.v1.GameService",
      "chess.analysis.v1.KeyService",
      "grpc.health.v1.Health",
      "grpc.reflection.v1.ServerReflection",
      "grpc.reflection.v1alpha.ServerReflection",
    ]);
    const { stdout: calls } = await curl("--list-methods", app.url);
    expect(calls.split("\n")).toEqual(
      expect.arrayContaining([`${service}/FindBestMove`, "grpc.health.v1.Health/Watch"]),
    );
  });

  test(`buf curl over ${protocol} sends calls without a proto file, with reflection by ${reflection}`, async () => {
    const { code, stdout } = await curl("-d", mateInOne, `${app.url}/${service}/FindBestMove`);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { bestMove: { san: "Re8#" } }]);
    const { stdout: health } = await curl("-d", "{}", `${app.url}/grpc.health.v1.Health/Check`);
    expect(JSON.parse(health)).toEqual({ status: "SERVING" });
  });

  test(`buf curl over ${protocol} shows the error of an invalid request, with reflection by ${reflection}`, async () => {
    const bad = mateInOne.replace("6}", "60}");
    const { code, stderr } = await curl("-d", bad, `${app.url}/${service}/FindBestMove`);
    expect(code).not.toBe(0);
    expect(JSON.parse(stderr)).toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining("`depth`"),
      details: [
        { type: "google.rpc.ErrorInfo" },
        { type: "google.rpc.BadRequest" },
        { type: "chess.analysis.v1.Problem" },
      ],
    });
  });
});

test("buf curl over HTTP/1.1 works with the protos of a checkout", async () => {
  const call = `${app.url}/${service}/FindBestMove`;
  for (const protocol of ["grpcweb", "connect"]) {
    const { stdout } = await runBuf("curl", "--schema", ".", "--protocol", protocol, "-d", mateInOne, call);
    expect(JSON.parse(stdout)).toMatchObject({ bestMove: { san: "Re8#" } });
  }
});
