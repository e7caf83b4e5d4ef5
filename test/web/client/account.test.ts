import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createRouterTransport } from "@connectrpc/connect";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { KeyService } from "../../../gen/chess/analysis/v1/key_service_pb.ts";
import { ProblemSchema } from "../../../gen/chess/analysis/v1/problem_pb.ts";
import { createClientState } from "../../../web/src/client/client.ts";

afterEach(() => void vi.unstubAllGlobals());

/** Starts a client whose service responds slowly to the key `kbz_slow` and refuses the key `kbz_wrong`. */
function start() {
  vi.stubGlobal("sessionStorage", { getItem: () => null, setItem: () => {}, removeItem: () => {} });
  const lookedUp: string[] = [];
  const created = ["kbz_quick", "kbz_second"];
  const refusal = () =>
    new ConnectError("no", Code.Unauthenticated, undefined, [
      { desc: ProblemSchema, value: create(ProblemSchema, { code: "invalid_api_key" }) },
    ]);
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  const client = createClientState((interceptors) =>
    createRouterTransport(
      ({ service }) => {
        service(AnalysisService, {
          evaluate(_, { requestHeader }) {
            if (requestHeader.get("Authorization") === "Bearer kbz_wrong") {
              throw refusal();
            }
            return {};
          },
          listEngines: () => ({}),
          getPrice: () => ({
            keyUrl: "/v1/keys",
            plans: [{ id: "keyless", limits: { depthMax: 20 } }],
          }),
        });
        service(KeyService, {
          createKey: () => ({ key: created.shift() ?? "kbz_quick" }),
          async getKey(_, { requestHeader }) {
            const key = requestHeader.get("Authorization")?.slice(7) ?? "";
            lookedUp.push(key);
            if (key === "kbz_wrong") {
              throw refusal();
            }
            if (key === "kbz_slow") {
              await held;
            }
            return { plan: key, limits: { depthMax: 30 } };
          },
        });
      },
      { transport: { interceptors } },
    ),
  );
  onTestFinished(() => client.dispose());
  return { client, lookedUp, letGo };
}

test("the page uses the limits of the keyless plan, or the limits of the key's plan if the user has a key", async () => {
  const { client } = start();
  const { account, key } = client;
  await expect.poll(() => account.limits.value?.depthMax).toBe(20);
  key.value = "kbz_quick";
  await expect.poll(() => account.limits.value?.depthMax).toBe(30);
});

test("an older response about a key does not replace a newer response", async () => {
  const { client, letGo } = start();
  client.key.value = "kbz_slow";
  client.key.value = "kbz_quick";
  await expect.poll(() => client.account.state.value).toMatchObject({ own: { plan: "kbz_quick" } });
  letGo();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(client.account.state.value).toMatchObject({ own: { plan: "kbz_quick" } });
});

test("a request with an invalid key is refused once, and the page does not look the key up again", async () => {
  const { client, lookedUp } = start();
  client.key.value = "kbz_wrong";
  await expect.poll(() => client.account.state.value.kind).toBe("failed");
  await expect(client.analyses.evaluate({ fen: "startpos" })).rejects.toMatchObject({
    code: Code.Unauthenticated,
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(lookedUp).toEqual(["kbz_wrong"]);
});

test("a key that the page creates is used for later requests and shown to the user", async () => {
  const { account, key } = start().client;
  await account.create();
  expect([account.created.value, key.value]).toEqual(["kbz_quick", "kbz_quick"]);
});

test("a second click on the button for a free key creates no second key", async () => {
  const { account, key } = start().client;
  await Promise.all([account.create(), account.create()]);
  expect(key.value).toBe("kbz_quick");
  await account.create();
  expect(key.value).toBe("kbz_second");
});
