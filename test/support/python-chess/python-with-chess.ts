import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheFolder, digestOfFiles } from "../cache-folder.ts";

const folder = fileURLToPath(new URL(".", import.meta.url));

/**
 * Returns the path of a Python with the packages of `requirements.txt`. Creates its virtual environment once, which takes some
 * seconds.
 */
export function pythonWithChess(): string {
  const requirements = join(folder, "requirements.txt");
  const venv = cacheFolder("python-chess", digestOfFiles(requirements));
  const python = join(venv, "bin", "python");
  const complete = join(venv, "complete");
  if (existsSync(complete)) {
    return python;
  }
  try {
    rmSync(venv, { recursive: true, force: true });
    mkdirSync(dirname(venv), { recursive: true });
    const run = (file: string, ...args: readonly string[]) => execFileSync(file, args, { stdio: "pipe" });
    run("python3", "-m", "venv", venv);
    run(python, "-m", "pip", "install", "--quiet", "--require-hashes", "--no-deps", "-r", requirements);
    mkdirSync(complete);
  } catch (error) {
    const stderr = String((error as { stderr?: unknown }).stderr ?? error);
    throw new Error(
      `python-chess needs Python 3 with venv (Debian: apt-get install python3-venv). ${stderr}`,
    );
  }
  return python;
}
