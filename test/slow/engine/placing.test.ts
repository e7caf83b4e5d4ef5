import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createFolder, writeScript } from "../../engine/write-script.ts";
import { describeWith } from "../../support/needs.ts";

const checkout = join(import.meta.dirname, "../../..");
const owner = [process.execPath, join(import.meta.dirname, "placing-owner.ts")];

interface Placed {
  readonly placed: string;
  readonly ino: number;
  readonly mode: number;
  readonly said: string;
  /** Of each process of the engine: users, groups, further groups. */
  readonly ids: readonly (readonly string[])[];
  readonly folder: { readonly uid: number; readonly gid: number; readonly mode: number };
  readonly user: string;
  readonly lacks: readonly string[];
}

/** What comes of a server that is root, after a shell has prepared the machine for it, seen by nobody else. */
function place(program: string, { prepare = ":", unshare = ["--mount"] } = {}): Placed & { error?: string } {
  const args = [...unshare, "--", "sh", "-ec", `${prepare}; exec "$@"`, "sh", ...owner, program];
  return JSON.parse(
    execFileSync("unshare", args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }),
  );
}

const saysUp = "echo up; exec cat";

/** A program in a folder that only root may enter. */
function programOfRoot(mode = 0o755): string {
  const folder = createFolder();
  chmodSync(folder, 0o700);
  const file = writeScript(saysUp, "engine", folder);
  chmodSync(file, mode);
  return file;
}

const four = "65534\t65534\t65534\t65534";
const asNobody = { said: "up", ids: [[four, four, ""]] };
const withoutPrograms = (...folders: readonly string[]) =>
  folders.map((folder) => `mount -t tmpfs -o noexec,mode=1777 none ${folder}`).join("; ");
/** What becomes of `/tmp` becomes of a checkout below it, too: that is put back, to run this test from. */
const besideCheckout = (prepare: string) =>
  `mount --bind ${checkout} /media; ${prepare}; mkdir -p ${checkout}; mount --bind /media ${checkout}; mount -o remount,bind,exec ${checkout}`;

describeWith(
  "root",
  "namespaces",
  "util-linux",
)("what engines need and only root can read", () => {
  test("an engine that only root can read is linked into a folder for the engines' user, and gone after the sandbox", () => {
    const program = programOfRoot();
    const told = place(program);
    const { placed, ino, folder } = told;
    expect(told).toMatchObject(asNobody);
    expect(ino).toBe(statSync(program).ino);
    expect(folder).toEqual({ uid: 0, gid: 65_534, mode: 0o040750 });
    expect(existsSync(dirname(placed))).toBe(false);
  });

  test("an engine whose own mode lets no other user read it is copied, and runs there", () => {
    const program = programOfRoot(0o700);
    const told = place(program);
    const { ino, mode } = told;
    expect(told).toMatchObject(asNobody);
    expect(ino).not.toBe(statSync(program).ino);
    expect(mode & 0o777).toBe(0o555);
    expect(statSync(program).mode & 0o777).toBe(0o700);
  });

  test("an engine on a file system that runs no programs is copied to another", () => {
    const program = programOfRoot();
    const told = place(program, {
      prepare: besideCheckout("mount --bind /tmp /tmp; mount -o remount,bind,noexec /tmp"),
    });
    expect(told).toMatchObject(asNobody);
    expect(told.placed).toMatch(/^\/var\//);
    expect(told.ino).not.toBe(statSync(program).ino);
  });

  test("an engine that its user can read stays where it is", () => {
    const program = writeScript(saysUp);
    expect(place(program)).toMatchObject({ placed: program, ...asNobody });
  });

  test("a start ends with the ways out, if there is no place for an engine", () => {
    const program = programOfRoot();
    const { error } = place(program, {
      // The program itself lies in one of them.
      prepare: `mkdir -p -m 700 /mnt/x; cp "$3" /mnt/x/engine; ${besideCheckout(withoutPrograms("/tmp", "/var/tmp", "/var/cache"))}; set -- "$1" "$2" /mnt/x/engine`,
    });
    onTestFinished(() => rmSync("/mnt/x", { recursive: true, force: true }));
    // Where this checkout is root's alone, Node is met first.
    expect(error).toMatch(/engines run as nobody, who may not read \S+\/(engine|node);/);
    expect(error).toContain("no program can be run in /tmp; no program can be run in /var/tmp");
    expect(error).toContain("Move Kibitz to where every user may read, such as /opt");
    expect(error).toContain("start it as another user than root");
  });

  test("a placed engine is deleted at the next start if its server was killed, and only then", async () => {
    const [file = "", ...args] = [...owner, programOfRoot(), "stay"];
    const killed = spawn(file, args, { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void killed.kill("SIGKILL"));
    const [line] = await once(killed.stdout, "data");
    const folder = dirname(dirname((JSON.parse(String(line)) as Placed).placed));
    place(programOfRoot(), { unshare: [] });
    expect(existsSync(folder)).toBe(true);
    killed.kill("SIGKILL");
    await once(killed, "exit");
    // What others have called by such a name is theirs.
    const others = folder.replace(/-[^-]*$/, "-others");
    mkdirSync(others);
    onTestFinished(() => rmSync(others, { recursive: true, force: true }));
    execFileSync("chown", ["1000", others]);
    place(programOfRoot(), { unshare: [] });
    expect(existsSync(folder)).toBe(false);
    expect(existsSync(others)).toBe(true);
  });
});

describeWith(
  "root",
  "namespaces",
  "util-linux",
)("a server that is root", () => {
  test("a server that is root runs no engine as root if util-linux is missing", () => {
    const prepare = "for tool in setpriv prlimit; do mount --bind /dev/null /usr/bin/$tool; done";
    const told = place(programOfRoot(), { prepare });
    const { lacks } = told;
    expect(told).toMatchObject({ user: "nobody", ...asNobody });
    expect(lacks).not.toContain("user");
    expect(lacks).not.toContain("keys");
    expect(lacks).toContain("privileges");
  });

  test.each([
    ["that has no other user", ["--user", "--map-root-user"], ":"],
    ["that may not change users", ["--mount"], 'set -- setpriv --bounding-set=-setuid "$@"'],
  ])(
    "a server that is root and of a kind %s starts no engine, and names the way out",
    (_, unshare, prepare) => {
      const { error } = place(programOfRoot(), { unshare, prepare });
      expect(error).toContain("cannot run engines as nobody here");
      expect(error).toContain("start it as another user than root");
    },
  );
});
