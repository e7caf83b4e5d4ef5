import { describe, expect, test } from "vitest";
import { matedFen } from "./calls.ts";
import { expectProblem } from "./expect-problem.ts";
import { useService } from "./started-service.ts";

const service = useService({ KIBITZ_ACCESS: "public" });

const cousins = [
  "X-Forwarded-For",
  "Forwarded",
  "X-Real-IP",
  "True-Client-IP",
  "CF-Connecting-IP",
  "X-Client-IP",
  "X-Cluster-Client-IP",
  "Fastly-Client-IP",
  "X-Originating-IP",
  "X-Remote-Addr",
];

const quota = 60;

describe("27: a forged address gives no advantage", () => {
  test("a caller cannot exceed its rate limit by sending a different forged address in each request", async () => {
    const statuses: number[] = [];
    for (let count = 0; count < 2 * quota; count++) {
      const address = `203.0.113.${count}`;
      const headers = Object.fromEntries(
        cousins.map((name) => [name, name === "Forwarded" ? `for=${address};proto=https` : address]),
      );
      const answer = await service.post("/v1/eval", { fen: matedFen }, headers);
      statuses.push(answer.status);
      if (answer.status !== 200) {
        expectProblem(answer, { status: 429, code: "rate_limited" });
      }
    }
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(quota);
    expect(statuses).toContain(200);
  });

  test.each(cousins)("the header %s does not let a request exceed the limit of its address", async (name) => {
    for (const value of [
      "127.0.0.1",
      "::1",
      "10.0.0.1, 203.0.113.9",
      "203.0.113.9:80",
      "[2001:db8::1]:1",
      "unknown",
      "x".repeat(4000),
      "",
    ]) {
      const answer = await service.post("/v1/eval", { fen: matedFen }, { [name]: value });
      expectProblem(answer, { status: 429, code: "rate_limited" }, value);
    }
  });
});
