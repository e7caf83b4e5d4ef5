import {
  chmodSync,
  chownSync,
  constants,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { chmod, copyFile, link, lstat, mkdir, readdir, realpath, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { type EngineUser, EngineUserUnusable, mayUse, reaches } from "./engine-user.ts";

/** Sees to it that engines can read what they need: root's home is nobody else's to read. */
interface Placing extends AsyncDisposable {
  /** Files where the engines' user can read them: where they are, or together in a folder for that. */
  files(files: readonly string[]): Promise<readonly string[]>;
  /** The same of a program, which is tried there. */
  program(file: string): Promise<string>;
}

/**
 * @param user whom engines run as; as the server itself if undefined, and then they can read what it can.
 * @param runs whether the user can run a command.
 */
export function createPlacing(
  user: EngineUser | undefined,
  runs: (command: readonly string[]) => Promise<boolean>,
): Placing {
  let staging: Promise<Staging> | undefined;

  async function files(wanted: readonly string[]): Promise<readonly string[]> {
    if (user === undefined || wanted.every((file) => reaches(user, file, useOf(file)))) {
      return wanted;
    }
    try {
      staging ??= openStaging(user, wanted[0] ?? "/", runs);
      return await (await staging).add(wanted);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new EngineUserUnusable(
        `engines run as ${user.name}, who may not read ${wanted[0]}; and it cannot be put where that user may: ${reason}. Move Kibitz to where every user may read, such as /opt, name a user who may read it in KIBITZ_ENGINE_USER, or start it as another user than root`,
        { cause },
      );
    }
  }

  return {
    files,
    async program(file) {
      const [placed = file] = await files([file]);
      if (placed !== file && !(await runs([placed, "--version"]))) {
        throw new EngineUserUnusable(
          `engines run as ${user?.name}, who may not read ${file} and cannot run a copy of it alone; install Node where every user may read, such as /usr/local, or start Kibitz as another user than root`,
        );
      }
      return placed;
    },
    async [Symbol.asyncDispose]() {
      const opened = await staging?.catch(() => undefined);
      await opened?.[Symbol.asyncDispose]();
    },
  };
}

function useOf(file: string): "run" | "read" {
  return (statSync(file).mode & 0o111) === 0 ? "read" : "run";
}

/** In the first folder in which the user can run programs; those first that share a file system with what is to be there. */
async function openStaging(
  user: EngineUser,
  near: string,
  runs: (command: readonly string[]) => Promise<boolean>,
): Promise<Staging> {
  const { dev } = await stat(dirname(near));
  const reasons: string[] = [];
  const parents = await Promise.all(
    [tmpdir(), "/var/tmp", "/var/cache"].map(async (folder) => {
      const real = await realpath(folder).catch(() => undefined);
      return real === undefined ? [] : [{ real, isNear: (await stat(real)).dev === dev }];
    }),
  );
  const nearFirst = parents.flat().toSorted((a, b) => Number(b.isNear) - Number(a.isNear));
  for (const folder of new Set(nearFirst.map(({ real }) => real))) {
    if (!reaches(user, folder)) {
      reasons.push(`${folder} is closed to that user`);
      continue;
    }
    try {
      const staging = await createStaging(user, folder);
      if (await runs([staging.probe])) {
        return staging;
      }
      await staging[Symbol.asyncDispose]();
      reasons.push(`no program can be run in ${folder}`);
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new Error(reasons.join("; "));
}

/** A folder for what engines need, where their user cannot read it where it is. Nobody else can enter it. */
interface Staging extends AsyncDisposable {
  /** Puts files side by side, under their own names, where they share a folder with nothing else. */
  add(files: readonly string[]): Promise<readonly string[]>;
  /** A program in it that does nothing: file systems may forbid to run any. */
  readonly probe: string;
}

/**
 * Links where it can, which takes no room and no time; copies else, by reference where the file system can. Who
 * replaces the original leaves what is here as it was.
 *
 * @param parent a folder that the user may enter.
 */
async function createStaging(user: EngineUser, parent: string): Promise<Staging> {
  await sweep(parent);
  // Made for root alone, and opened when it is that user's.
  const folder = mkdtempSync(join(parent, `${prefix}${nameOfProcess("self") ?? "unknown"}-`));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  // Also where the process is ended in the middle; of one that is killed the next start sweeps up.
  process.once("exit", remove);
  chownSync(folder, 0, user.gid);
  chmodSync(folder, 0o750);
  const probe = join(folder, "probe");
  writeFileSync(probe, "#!/bin/sh\n");
  chmodSync(probe, 0o755);
  let count = 0;
  return {
    probe,
    async add(files) {
      const place = join(folder, String(++count));
      await mkdir(place);
      await chmod(place, 0o755);
      return Promise.all(files.map((file) => bring(file, join(place, basename(file)), user)));
    },
    async [Symbol.asyncDispose]() {
      process.off("exit", remove);
      remove();
    },
  };
}

async function bring(file: string, to: string, user: EngineUser): Promise<string> {
  const { mode } = await stat(file);
  const isProgram = (mode & 0o111) !== 0;
  if (mayUse(user, file, isProgram ? "run" : "read")) {
    try {
      await link(file, to);
      return to;
    } catch {
      // Another file system, or one without links.
    }
  }
  await copyFile(file, to, constants.COPYFILE_FICLONE);
  await chmod(to, isProgram ? 0o555 : 0o444);
  return to;
}

const prefix = "kibitz-engines-";

/** Removes what servers have left there that were killed. */
async function sweep(parent: string): Promise<void> {
  const own = nameOfProcess("self")?.split("-")[0];
  const folders = (await readdir(parent)).filter((name) => name.startsWith(`${prefix}${own}-`));
  for (const name of folders) {
    const [namespace, pid = "", begun] = name.slice(prefix.length).split("-");
    const path = join(parent, name);
    // Anybody may give a folder such a name.
    const isOurs = await lstat(path).then(
      (found) => found.isDirectory() && found.uid === 0,
      () => false,
    );
    if (isOurs && nameOfProcess(pid) !== [namespace, pid, begun].join("-")) {
      await rm(path, { recursive: true, force: true });
    }
  }
}

/**
 * What no other process has or had since the machine was started: the namespace of its number (a container has its
 * own), that number, and when it was begun. Undefined if there is no such process, or the system does not tell.
 */
function nameOfProcess(pid: string): string | undefined {
  try {
    const namespace = readlinkSync("/proc/self/ns/pid").replace(/\D/g, "");
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const begun = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
    return [namespace, Number.parseInt(stat, 10), begun].join("-");
  } catch {
    return undefined;
  }
}
