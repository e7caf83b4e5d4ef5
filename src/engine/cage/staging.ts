import {
  chmodSync,
  chownSync,
  constants,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { chmod, copyFile, link, lstat, mkdir, readdir, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { type EngineUser, mayUse } from "./engine-user.ts";

/** A folder for what engines need, where their user cannot read it where it is. Nobody else can enter it. */
export interface Staging extends AsyncDisposable {
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
export async function createStaging(user: EngineUser, parent: string): Promise<Staging> {
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
