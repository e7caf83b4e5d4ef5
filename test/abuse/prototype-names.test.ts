import { describe, expect, test } from "vitest";
import { matedFen, rpcOf } from "./calls.ts";
import { expectProblem } from "./expect-problem.ts";
import { expectEvaluation, useSharedService } from "./started-service.ts";

const service = useSharedService();

const names = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "valueOf",
  "hasOwnProperty",
  "isPrototypeOf",
  "__defineGetter__",
  "__lookupSetter__",
  "then",
  "toJSON",
];

describe("07: names of members of JavaScript objects are ordinary names", () => {
  test.each(names)(
    "the name %s has no special meaning as a field, an id, an option, a move or a path",
    async (name) => {
      const refused = { status: 400 };
      const ask = (more: string) => service.post("/v1/eval", `{"fen":"${matedFen}",${more}}`);
      expectProblem(await ask(`"${name}":1`), { ...refused, code: "unknown_field" });
      expectProblem(await ask(`"${name}":{"depth":30,"polluted":true}`), {
        ...refused,
        code: "unknown_field",
      });
      expectProblem(await ask(`"engine":"${name}"`), { ...refused, code: "unknown_engine" });
      expectProblem(await ask(`"path":"${name}"`), refused);
      expectProblem(await ask(`"options":{"${name}":1}`), { ...refused, code: "option_not_allowed" });
      expectProblem(await ask(`"options":{"${name}":{"skill_level":1}}`), refused);
      expectProblem(await ask(`"moves":["${name}"]`), refused);
      expectProblem(await service.post("/v1/eval/batch", `{"${name}":[]}`), refused);
      expectProblem(await service.post("/v1/keys", `{"${name}":"x"}`), refused);
      expectProblem(await service.get(`/price?${name}=1`), refused);
      expectProblem(await service.get(`/${name}`), { status: 404, code: "not_found" });
      expectProblem(await service.get(`/v1/${name}`), { status: 404, code: "not_found" });
      expectProblem(await service.get(`/problems/${name}`), { status: 404, code: "not_found" });
      expectProblem(await service.post(`/v1/${name}`, {}), { status: 404, code: "not_found" });
      const call = await service.post(rpcOf(name), "{}");
      expect([404, 501]).toContain(call.status);
      const rpc = await service.post(rpcOf("Evaluate"), `{"fen":"${matedFen}","${name}":{"polluted":true}}`);
      expect(rpc.status).toBe(400);
    },
  );

  test("requests with the names of JavaScript object members do not change later responses", async () => {
    const answer = await service.post("/v1/eval", { fen: matedFen });
    expect(answer.status).toBe(200);
    expect(answer.body).not.toContain("polluted");
    await expectEvaluation(service.url);
  });
});
