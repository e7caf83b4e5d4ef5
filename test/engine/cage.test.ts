import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createCage, EngineUserUnusable } from "../../src/engine/cage/cage.ts";
import { type Guard, guards } from "../../src/engine/cage/layers.ts";
import { createFolder } from "./write-script.ts";

interface Report {
  readonly user?: string;
  readonly holds: readonly Guard[];
  readonly lacks: readonly Guard[];
  readonly outcomes: Readonly<Record<string, "done" | "refused">>;
}

/** What each guard keeps a hostile engine from. */
const attemptsOf: Readonly<Record<Guard, readonly string[]>> = {
  user: ["signal", "readEnvironment"],
  keys: ["readKeys"],
  network: ["connect"],
  writes: ["write"],
  privileges: ["gainPrivileges"],
  limits: ["dumpCore"],
  "ends with the server": [],
};

const isRoot = process.getuid?.() === 0;

/** Of a server that runs as this user. */
function reportOf(
  cage: "none" | "best",
  { uid, userName, limit }: { uid?: number; userName?: string; limit?: string } = {},
): Report {
  const owner = [
    process.execPath,
    join(import.meta.dirname, "cage-owner.ts"),
    cage,
    ...(userName ? [userName] : []),
  ];
  const become = uid === undefined ? [] : ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"];
  const within = limit === undefined ? [] : ["prlimit", limit, "--"];
  const [file = "", ...args] = [...within, ...become, ...owner];
  return JSON.parse(execFileSync(file, args, { encoding: "utf8", stdio: "pipe" }));
}

function expectToHold({ holds, outcomes }: Report): void {
  const wanted = holds.flatMap((guard) => attemptsOf[guard]);
  expect(wanted.filter((attempt) => outcomes[attempt] !== "refused")).toEqual([]);
}

test("without a cage, an engine can do all that the server can", () => {
  const { outcomes, lacks } = reportOf("none");
  expect(lacks).toEqual(guards);
  const done = Object.values(attemptsOf)
    .flat()
    .filter((attempt) => attempt !== "dumpCore");
  expect(outcomes).toMatchObject(Object.fromEntries(done.map((attempt) => [attempt, "done"])));
});

describe("a hostile engine cannot do what the cage is said to keep it from", () => {
  test("as the user of these tests", () => {
    const report = reportOf("best");
    expectToHold(report);
    expect([...report.holds, ...report.lacks].toSorted()).toEqual(guards.toSorted());
  });

  test.runIf(isRoot)("of a server that is root: all of it holds, and it is nobody", () => {
    const report = reportOf("best");
    expect(report).toMatchObject({ user: "nobody", lacks: [] });
  });

  test.runIf(isRoot)("of a server that is not: all of it holds but the user", () => {
    const report = reportOf("best", { uid: 1000 });
    expectToHold(report);
    expect(report.lacks).toEqual(["user"]);
    // The user namespace around the engine is in between.
    expect(report.outcomes.readEnvironment).toBe("refused");
  });
});

test.each([["--nofile=100:100"], ["--data=1600000000:1600000000"]])(
  "limits of the operator that are stricter (%s) take nothing from the cage",
  (limit) => {
    // Root could allow its engines more than itself.
    const user = isRoot ? { uid: 1000 } : {};
    const report = reportOf("best", { ...user, limit });
    expectToHold(report);
    expect(report.holds).toEqual(reportOf("best", user).holds);
  },
);

describe("the user that the operator names", () => {
  const create = (userName: string, reads: readonly string[] = []) =>
    createCage({ userName, hide: "/nowhere", reads });

  test.runIf(isRoot)("is the one that engines run as", async () => {
    expect((await create("games")).user?.name).toBe("games");
  });

  test.runIf(isRoot)("is no way to the folder of the keys, also where that lets everybody in", async () => {
    const open = createFolder();
    const cage = await createCage({ userName: "games", hide: open, reads: [] });
    expect(cage.lacks).toEqual([]);
    const listing = { file: "/bin/ls", args: ["-a", open] };
    writeFileSync(join(open, "kibitz.db"), "secret");
    const { file, args } = cage.around(listing, { hashMb: 16, threads: 1 });
    expect(() => execFileSync(file, [...args], { stdio: "pipe" })).toThrow("Permission denied");
  });

  test.runIf(isRoot)("is not root", async () => {
    await expect(create("root")).rejects.toThrow("engines must not run as root");
  });

  test.runIf(isRoot)("must be there", async () => {
    await expect(create("nosuchuser")).rejects.toThrow(EngineUserUnusable);
    await expect(create("nosuchuser")).rejects.toThrow('there is no user "nosuchuser" on this machine');
  });

  test.runIf(isRoot)("must be able to read what engines need", async () => {
    await expect(create("games", ["/etc/shadow"])).rejects.toThrow("may not read /etc/shadow");
  });

  test("takes root", () => {
    expect(() => reportOf("best", { ...(isRoot && { uid: 1000 }), userName: "nobody" })).toThrow(
      "only root can run engines as another user",
    );
  });
});
