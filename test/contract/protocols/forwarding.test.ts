import { expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { rateOf, usePlansFile } from "../../support/plans-file.ts";
import { useApp } from "../../support/running-app.ts";
import { startFen } from "./cases/case.ts";
import { heads } from "./heads.ts";

const plans = usePlansFile({ id: "keyless", limits: { rates: [rateOf("hour", heads.length, 3600)] } });
const app = useApp({ KIBITZ_ACCESS: "public", KIBITZ_PLANS: plans }, { engines: createEnginesInProcess() });

test("forwarding headers of an untrusted client are ignored over every protocol and logged once", async () => {
  let count = 0;
  const spoofed = () => ({
    "x-forwarded-for": `198.51.100.${++count}`,
    "x-real-ip": `198.51.100.${count}`,
    forwarded: `for=198.51.100.${count}`,
  });
  for (const { ask, ok } of heads) {
    expect((await ask(app.url, { fen: startFen, depth: 1 }, spoofed())).status).toBe(ok);
  }
  for (const { ask, later } of heads) {
    expect((await ask(app.url, { fen: startFen, depth: 1 }, spoofed())).status).toBe(later);
  }
  const warnings = app.logged.filter((line) => JSON.stringify(line).includes("KIBITZ_TRUST_PROXY"));
  expect(warnings).toMatchObject([{ proxy: "127.0.0.1" }]);
});
