import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, chownSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { EngineUserUnusable } from "../../../src/engine/sandbox/engine-user.ts";
import { type Guard, guards } from "../../../src/engine/sandbox/links.ts";
import { createSandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { createFolder, writeScript } from "../../engine/write-script.ts";
import { copyCheckout } from "../../support/copy-checkout.ts";
import { describeWith, testWith } from "../../support/needs.ts";

interface Report {
  readonly user?: string;
  readonly holds: readonly Guard[];
  readonly lacks: readonly Guard[];
  readonly outcomes: Readonly<Record<string, "done" | "refused">>;
}

/** For each protection of the sandbox, the attempts of a hostile engine that the protection prevents. */
const attemptsOf: Readonly<Record<Guard, readonly string[]>> = {
  user: ["signal", "readEnvironment"],
  keys: ["readKeys"],
  network: ["connect"],
  writes: ["write"],
  privileges: ["gainPrivileges"],
  limits: ["dumpCore"],
  "ends with the server": [],
};

/** The number of the scheduling policy SCHED_BATCH, see sched(7). */
const schedBatch = "3";

const isRoot = process.getuid?.() === 0;

/** Runs a hostile engine, whose server runs as the user `uid`, and returns the engine's report. */
function reportOf(
  sandbox: "none" | "best",
  { uid, userName }: { uid?: number; userName?: string } = {},
): Report {
  // The other user may have no access to this checkout.
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
  const [file = "", ...args] = [...become, ...owner];
  return JSON.parse(execFileSync(file, args, { encoding: "utf8", stdio: "pipe" }));
}

function expectToHold({ holds, outcomes }: Report): void {
  const wanted = holds.flatMap((guard) => attemptsOf[guard]);
  expect(wanted.filter((attempt) => outcomes[attempt] !== "refused")).toEqual([]);
}

test("an engine without a sandbox can do everything that the server can do", () => {
  const { outcomes, lacks } = reportOf("none");
  expect(lacks).toEqual(guards);
  const done = Object.values(attemptsOf)
    .flat()
    .filter((attempt) => attempt !== "dumpCore");
  expect(outcomes).toMatchObject(Object.fromEntries(done.map((attempt) => [attempt, "done"])));
});

describe("the protections of the sandbox", () => {
  test("a hostile engine cannot escape its sandbox if its server runs as the current user", () => {
    const report = reportOf("best");
    expectToHold(report);
    // The protection "user" applies only to servers that run as root.
    expect(new Set([...report.holds, ...report.lacks, "user"])).toEqual(new Set(guards));
  });

  testWith(
    "root",
    "namespaces",
    "util-linux",
  )(
    "a hostile engine of a server that runs as root has the user nobody, and cannot escape its sandbox",
    () => {
      const report = reportOf("best");
      expect(report).toMatchObject({ user: "nobody", lacks: [] });
    },
  );

  testWith(
    "root",
    "namespaces",
    "util-linux",
  )(
    "a hostile engine of a server that does not run as root has the server's user, and cannot escape its sandbox",
    () => {
      const report = reportOf("best", { uid: 1000 });
      expectToHold(report);
      expect(report).toMatchObject({ holds: guards.filter((guard) => guard !== "user"), lacks: [] });
      // The engine's user namespace prevents this.
      expect(report.outcomes.readEnvironment).toBe("refused");
    },
  );
});

testWith("util-linux")(
  "engines run under the scheduling policy SCHED_BATCH, so an engine that wakes up does not preempt the server",
  async () => {
    const sandbox = await createSandbox({ userName: undefined, hide: "/nowhere" });
    const itself = { file: "/bin/cat", args: ["/proc/self/stat"] };
    const { file, args } = sandbox.wrap(itself, { hashMb: 16, threads: 1 });
    const stat = execFileSync(file, [...args], { encoding: "utf8" });
    // The policy is field 41 of proc_pid_stat(5), and the first field after the name is field 3.
    const policy = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[41 - 3];
    expect(policy).toBe(schedBatch);
  },
);

testWith("util-linux")(
  "an engine that tries to enlarge a file gets an error, and is not killed",
  async () => {
    // Since version 18, Stockfish sizes a file in memory for its network, and continues without this file after an error.
    const sandbox = await createSandbox({ userName: undefined, hide: "/nowhere" });
    const enlarge = { file: "truncate", args: ["--size=1M", "enlarged"] };
    const { file, args, runAs } = sandbox.wrap(enlarge, { hashMb: 16, threads: 1 });
    const cwd = createFolder();
    chmodSync(cwd, 0o777);
    const { signal, stderr } = spawnSync(file, args, { cwd, encoding: "utf8", ...runAs });
    expect(signal).toBeNull();
    expect(stderr).toContain("File too large");
  },
);

describe("the configured user", () => {
  const create = (userName: string) => createSandbox({ userName, hide: "/nowhere" });

  testWith("root")("engines run as the configured user", async () => {
    expect((await create("games")).user?.name).toBe("games");
  });

  testWith(
    "root",
    "namespaces",
    "util-linux",
  )(
    "an engine that runs as a configured user cannot read the folder of the key database, even if its permissions allow all users to read",
    async () => {
      const open = createFolder();
      const sandbox = await createSandbox({ userName: "games", hide: open });
      expect(sandbox.lacks).toEqual([]);
      const listing = { file: "/bin/ls", args: ["-a", open] };
      writeFileSync(join(open, "kibitz.db"), "secret");
      const { file, args } = sandbox.wrap(listing, { hashMb: 16, threads: 1 });
      expect(() => execFileSync(file, [...args], { stdio: "pipe" })).toThrow("Permission denied");
    },
  );

  testWith("root")("root is refused as the configured user for engines", async () => {
    await expect(create("root")).rejects.toThrow("engines must not run as root");
  });

  testWith("root")("an unknown user is refused as the configured user for engines", async () => {
    await expect(create("nosuchuser")).rejects.toThrow(EngineUserUnusable);
    await expect(create("nosuchuser")).rejects.toThrow('there is no user "nosuchuser" on this machine');
  });

  test("a server that does not run as root refuses to run engines as another user", () => {
    expect(() => reportOf("best", { ...(isRoot && { uid: 1000 }), userName: "nobody" })).toThrow(
      "only root can run engines as another user",
    );
  });
});

const four = "65534\t65534\t65534\t65534";
const asNobody = { printed: "up", user: "nobody", ids: [[four, four, ""]] };

interface RootReport {
  readonly placed: string;
  readonly lacks: readonly Guard[];
  readonly error?: string;
}

/**
 * Starts a server as root, with `program` as its engine. Runs the shell command `prepare` before the start, in the server's own
 * mount namespace.
 */
function runAsRoot(
  program: string,
  { prepare = ":", unshare = ["--mount"], cache = createFolder() } = {},
): RootReport {
  const owner = [process.execPath, join(import.meta.dirname, "root-owner.ts"), program, cache];
  const args = [...unshare, "--", "sh", "-ec", `${prepare}; exec "$@"`, "sh", ...owner];
  return JSON.parse(
    execFileSync("unshare", args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }),
  );
}

function programOfRoot(): string {
  const file = writeScript("echo up; exec cat", "engine");
  chmodSync(dirname(file), 0o700);
  return file;
}

describeWith(
  "root",
  "namespaces",
  "util-linux",
)("a server that runs as root", () => {
  test("a server that runs as root copies an engine file that only root can read, and runs the copy as the user nobody", () => {
    const cache = createFolder();
    const report = runAsRoot(programOfRoot(), { cache });
    expect(report).toMatchObject({ ...asNobody, owner: 0 });
    expect(dirname(dirname(report.placed))).toBe(cache);
  });

  test("an engine file that the engine's user can read is not copied", () => {
    const program = writeScript("echo up; exec cat");
    expect(runAsRoot(program)).toMatchObject({ ...asNobody, placed: program });
  });

  test("an engine file that the server cannot copy for the engine's user is refused, and the error says how to fix the problem", () => {
    const cache = createFolder();
    // The folder belongs to another user.
    chownSync(cache, 1000, 1000);
    const { error } = runAsRoot(programOfRoot(), { cache });
    // If only root can read this checkout, the error is about Node.
    expect(error).toMatch(/engines run as nobody, who may not read \S+\/(engine|node),/);
    expect(error).toContain(`${cache} is not a folder that only the server's user can write to; delete it`);
    expect(error).toContain("Move Kibitz to a folder that every user may read, such as /opt");
    expect(error).toContain("start it as another user than root");
  });

  test("a server that runs as root does not run engines as root, even if util-linux is missing", () => {
    const prepare = "for tool in setpriv prlimit; do mount --bind /dev/null /usr/bin/$tool; done";
    const report = runAsRoot(programOfRoot(), { prepare });
    expect(report).toMatchObject(asNobody);
    expect(report.lacks).toEqual(["writes", "privileges", "limits", "ends with the server"]);
  });

  test.each([
    ["has no other user", ["--user", "--map-root-user"], ":"],
    ["cannot change users", ["--mount"], 'set -- setpriv --bounding-set=-setuid "$@"'],
  ])(
    "if a server that runs as root %s, no engine starts, and the error says how to fix the problem",
    (_, unshare, prepare) => {
      const { error } = runAsRoot(programOfRoot(), { unshare, prepare });
      expect(error).toContain("cannot run engines as nobody here");
      expect(error).toContain("start it as another user than root");
    },
  );
});
