import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { EngineUserUnusable } from "../../../src/engine/sandbox/engine-user.ts";
import { type Guard, guards } from "../../../src/engine/sandbox/layers.ts";
import { createSandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { createFolder } from "../../engine/write-script.ts";
import { copyCheckout } from "../../support/copy-checkout.ts";
import { testWith } from "../../support/needs.ts";

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

/** As sched(7) counts policies. */
const schedBatch = "3";

const isRoot = process.getuid?.() === 0;

/** Of a server that runs as this user. */
function reportOf(
  sandbox: "none" | "best",
  { uid, userName, limit }: { uid?: number; userName?: string; limit?: string } = {},
): Report {
  // Where only root may read this checkout, another user needs one of its own.
  const node = "node_modules/node/bin/node";
  const parts = ["package.json", "src", "test/engine", node];
  const checkout = uid === undefined ? undefined : copyCheckout(join(createFolder(), "kibitz"), parts);
  const program = join("test", "engine", "sandbox-owner.ts");
  const owner = [
    checkout === undefined ? process.execPath : join(checkout, node),
    join(checkout ?? join(import.meta.dirname, "../../.."), program),
    sandbox,
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

test("without a sandbox, an engine can do all that the server can", () => {
  const { outcomes, lacks } = reportOf("none");
  expect(lacks).toEqual(guards);
  const done = Object.values(attemptsOf)
    .flat()
    .filter((attempt) => attempt !== "dumpCore");
  expect(outcomes).toMatchObject(Object.fromEntries(done.map((attempt) => [attempt, "done"])));
});

describe("a hostile engine cannot do what the sandbox is said to keep it from", () => {
  test("a hostile engine cannot leave its sandbox as the user of these tests", () => {
    const report = reportOf("best");
    expectToHold(report);
    // A server that is not root neither has another user for engines nor lacks one.
    expect(new Set([...report.holds, ...report.lacks, "user"])).toEqual(new Set(guards));
  });

  testWith(
    "root",
    "namespaces",
    "util-linux",
  )("a hostile engine of a server that is root cannot leave its sandbox, and runs as nobody", () => {
    const report = reportOf("best");
    expect(report).toMatchObject({ user: "nobody", lacks: [] });
  });

  testWith(
    "root",
    "namespaces",
    "util-linux",
  )(
    "a hostile engine of a server that is not root cannot leave its sandbox, and runs as the server's user",
    () => {
      const report = reportOf("best", { uid: 1000 });
      expectToHold(report);
      expect(report).toMatchObject({ holds: guards.filter((guard) => guard !== "user"), lacks: [] });
      // The user namespace around the engine is in between.
      expect(report.outcomes.readEnvironment).toBe("refused");
    },
  );
});

testWith("util-linux").each([["--nofile=100:100"], ["--data=1600000000:1600000000"]])(
  "limits of the operator that are stricter (%s) take nothing from the sandbox",
  (limit) => {
    // Root could allow its engines more than itself.
    const user = isRoot ? { uid: 1000 } : {};
    const report = reportOf("best", { ...user, limit });
    expectToHold(report);
    expect(report.holds).toEqual(reportOf("best", user).holds);
  },
);

testWith("util-linux")(
  "an engine is batch work to the kernel: woken by the server, it takes no core from it",
  async () => {
    const sandbox = await createSandbox({ userName: undefined, hide: "/nowhere" });
    onTestFinished(() => sandbox[Symbol.asyncDispose]());
    const itself = { file: "/bin/cat", args: ["/proc/self/stat"] };
    const { file, args } = sandbox.around(itself, { hashMb: 16, threads: 1 });
    const stat = execFileSync(file, [...args], { encoding: "utf8" });
    // The third field comes first behind the name, the policy is the 41st (proc_pid_stat(5)).
    const policy = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[41 - 3];
    expect(policy).toBe(schedBatch);
  },
);

describe("the user that the operator names", () => {
  const create = async (userName: string) => {
    const sandbox = await createSandbox({ userName, hide: "/nowhere" });
    onTestFinished(() => sandbox[Symbol.asyncDispose]());
    return sandbox;
  };

  testWith("root")("engines run as the user that the operator names", async () => {
    expect((await create("games")).user?.name).toBe("games");
  });

  testWith(
    "root",
    "namespaces",
    "util-linux",
  )("the operator's user cannot read the folder of the keys, even if all users can enter it", async () => {
    const open = createFolder();
    const sandbox = await createSandbox({ userName: "games", hide: open });
    onTestFinished(() => sandbox[Symbol.asyncDispose]());
    expect(sandbox.lacks).toEqual([]);
    const listing = { file: "/bin/ls", args: ["-a", open] };
    writeFileSync(join(open, "kibitz.db"), "secret");
    const { file, args } = sandbox.around(listing, { hashMb: 16, threads: 1 });
    expect(() => execFileSync(file, [...args], { stdio: "pipe" })).toThrow("Permission denied");
  });

  testWith("root")("the operator's user for engines is not root", async () => {
    await expect(create("root")).rejects.toThrow("engines must not run as root");
  });

  testWith("root")("the operator's user for engines must exist", async () => {
    await expect(create("nosuchuser")).rejects.toThrow(EngineUserUnusable);
    await expect(create("nosuchuser")).rejects.toThrow('there is no user "nosuchuser" on this machine');
  });

  test("another user for engines needs a server that is root", () => {
    expect(() => reportOf("best", { ...(isRoot && { uid: 1000 }), userName: "nobody" })).toThrow(
      "only root can run engines as another user",
    );
  });
});
