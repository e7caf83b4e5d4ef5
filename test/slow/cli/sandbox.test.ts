import { expect, test } from "vitest";
import { spawnKibitz } from "../../cli/run-kibitz.ts";
import { withoutUnshare } from "../../support/components.ts";
import { describeWith } from "../../support/needs.ts";
import { logLevel, serve } from "../../support/served.ts";

const mateInOne = "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1";

describeWith("namespaces", "util-linux")("a sandbox that lacks a protection", () => {
  test("kibitz eval prints no warning if the sandbox of its engine lacks a protection", async () => {
    const { code, stderr } = await spawnKibitz(
      ["eval", mateInOne, "-d", "4"],
      {},
      { through: withoutUnshare },
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  test("kibitz serve logs one warning about what an engine could do if the sandbox lacks a protection", async () => {
    const { logged } = await serve({}, { through: withoutUnshare });
    expect(logged.filter(({ level }) => level >= logLevel.warn)).toMatchObject([
      {
        msg: expect.stringMatching(
          /^engine sandbox: an engine that was taken over could (read the key database and )?use the network; kibitz doctor says how to prevent that$/,
        ),
        lacks: expect.arrayContaining(["network"]),
      },
    ]);
  });
});
