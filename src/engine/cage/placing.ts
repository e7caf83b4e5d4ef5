import { statSync } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { type EngineUser, EngineUserUnusable, reaches } from "./engine-user.ts";
import { createStaging, type Staging } from "./staging.ts";

/** Sees to it that engines can read what they need: root's home is nobody else's to read. */
export interface Placing extends AsyncDisposable {
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
