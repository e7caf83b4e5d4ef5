import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect, test } from "vitest";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { useApp } from "../../support/running-app.ts";
import { post } from "./post.ts";

const app = useApp({ KIBITZ_ACCESS: "public" }, { engines: createEnginesInProcess() });
const fen = "8/8/8/8/8/5k2/6q1/7K w - - 0 1";
const requests = Array.from({ length: 200 }, () => ({ fen, depth: 99 }));
const json = { "Content-Type": "application/json" };

type Codes = (headers: { readonly authorization: string }) => Promise<readonly unknown[]>;

const protocols: readonly (readonly [string, Codes])[] = [
  [
    "plain JSON",
    async (headers) => {
      const { body } = await post(`${app.url}/v1/eval/batch`, { requests }, { ...json, ...headers });
      return (body as unknown as { problem: { code: string } | null }[]).map(({ problem }) => problem?.code);
    },
  ],
  [
    "gRPC",
    async (headers) => {
      const client = createClient(AnalysisService, createGrpcTransport({ baseUrl: app.url }));
      const answers = await Array.fromAsync(client.evaluateBatch({ requests }, { headers }));
      return answers.map(({ outcome }) => outcome.case === "problem" && outcome.value.code);
    },
  ],
];

test.each(protocols)(
  "a batch over %s with the same wrong field in all 200 items gets an error for each item",
  async (_, codes) => {
    const created = await post(`${app.url}/v1/keys`, {}, json);
    const headers = { authorization: `Bearer ${created.body.key}` };
    expect(await codes(headers)).toEqual(requests.map(() => "out_of_range"));
    const { status } = await post(`${app.url}/v1/eval`, { fen }, { ...json, ...headers });
    expect(status).toBe(200);
  },
);
