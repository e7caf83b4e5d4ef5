import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { describeWith } from "../support/needs.ts";
import { useApp } from "../support/running-app.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { runGoTool } from "./go-tools.ts";

const app = useApp();
const folder = useTemporaryFolder();
const service = "chess.analysis.v1.AnalysisService";
const mateInOne = '{"fen": "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1", "depth": 6}';

const grpcurl = (before: readonly string[], ...after: readonly string[]) =>
  runGoTool("grpcurl", "-plaintext", ...before, new URL(app.url).host, ...after);

describeWith("grpcurl")("grpcurl, without any proto file", () => {
  test("grpcurl lists services and methods", async () => {
    const { stdout } = await grpcurl([], "list");
    expect(stdout.trim().split("\n")).toEqual([
      service,
      "chess.analysis.v1.GameService",
      "chess.analysis.v1.KeyService",
      "grpc.health.v1.Health",
      "grpc.reflection.v1.ServerReflection",
      "grpc.reflection.v1alpha.ServerReflection",
    ]);
    const { stdout: calls } = await grpcurl([], "list", "chess.analysis.v1.KeyService");
    expect(calls.trim().split("\n")).toEqual(
      ["CreateKey", "GetKey", "RevokeKey"].map((name) => `chess.analysis.v1.KeyService.${name}`),
    );
  });

  test.each([
    ["a service", service, "rpc FindBestMove ( .chess.analysis.v1.AnalysisRequest ) returns"],
    [
      "a call with its route",
      `${service}.FindBestMove`,
      'option (.google.api.http) = { post: "/v1/bestmove"',
    ],
    ["a message with its rules", "chess.analysis.v1.AnalysisRequest", "uint32: { lte: 30, gte: 1 }"],
    ["a message of errors", "google.rpc.ErrorInfo", "map<string, string> metadata = 3;"],
    [
      "a message of a dependency",
      "google.protobuf.Struct",
      "map<string, .google.protobuf.Value> fields = 1;",
    ],
  ])("grpcurl describes %s", async (_, symbol, expected) => {
    const { code, stdout } = await grpcurl([], "describe", symbol);
    expect([code, stdout]).toEqual([0, expect.stringContaining(expected)]);
  });

  test("grpcurl exports all descriptors into a file that other tools can read", async () => {
    const file = join(folder, "kibitz.binpb");
    const { code } = await grpcurl(["-protoset-out", file], "describe", service);
    expect(code).toBe(0);
    const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(file)));
    expect(registry.getService(service)?.methods.map(({ name }) => name)).toEqual(
      AnalysisService.methods.map(({ name }) => name),
    );
  });

  test("grpcurl calls FindBestMove", async () => {
    const { code, stdout } = await grpcurl(["-d", mateInOne], `${service}/FindBestMove`);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { bestMove: { san: "Re8#" }, score: { mate: 1 } }]);
  });

  test("grpcurl reads a stream", async () => {
    const { code, stdout } = await grpcurl(["-d", mateInOne], `${service}/StreamEvaluate`);
    expect([code, stdout]).toEqual([0, expect.stringContaining('"stopReason": "STOP_REASON_DEPTH"')]);
  });

  test("grpcurl shows the typed details of an error", async () => {
    const bad = mateInOne.replace("6}", "60}");
    const { code, stderr } = await grpcurl(
      ["-d", bad, "-H", "X-Request-Id: mine"],
      `${service}/FindBestMove`,
    );
    expect(code).not.toBe(0);
    for (const part of [
      "Code: InvalidArgument",
      "Message: `depth`",
      '"@type": "type.googleapis.com/google.rpc.ErrorInfo"',
      '"reason": "OUT_OF_RANGE"',
      '"request_id": "mine"',
      '"@type": "type.googleapis.com/google.rpc.BadRequest"',
      '"field": "depth"',
    ]) {
      expect(stderr).toContain(part);
    }
  });

  test("grpcurl can call the health check", async () => {
    const { stdout } = await grpcurl(["-d", `{"service": "${service}"}`], "grpc.health.v1.Health/Check");
    expect(JSON.parse(stdout)).toEqual({ status: "SERVING" });
    const { stderr } = await grpcurl(["-d", '{"service": "nope"}'], "grpc.health.v1.Health/Check");
    expect(stderr).toContain("Code: NotFound");
  });

  test("grpcurl shows an error for an unknown service, method or symbol", async () => {
    const { stderr: noService } = await grpcurl([], "nope.Service/Call");
    expect(noService).toContain('server does not expose service "nope.Service"');
    const { stderr: noCall } = await grpcurl([], `${service}/Nope`);
    expect(noCall).toContain('does not include a method named "Nope"');
    const { stderr: noSymbol } = await grpcurl([], "describe", "nope.Nope");
    expect(noSymbol).toContain("Symbol not found: nope.Nope");
  });
});
