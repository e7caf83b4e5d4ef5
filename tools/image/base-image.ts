import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheFolder } from "../../test/support/cache-folder.ts";
import type { Containers } from "./containers.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const cache = cacheFolder("image");

/** Makes a Debian image without an image registry. Throws Error if the version of Node is not the version in `name`. */
export function makeBaseImage({ podman, folder }: Containers, name: string): void {
  const [, version = "", suite = ""] = /^node:([\d.]+)-(\w+)-slim$/.exec(name) ?? [];
  const node = join(root, "node_modules/node/bin/node");
  const ours = execFileSync(node, ["--version"], { encoding: "utf8" }).trim();
  if (ours !== `v${version}`) {
    throw new Error(`the Dockerfile is for Node ${version}, the package "node" of this checkout is ${ours}`);
  }
  const kept = join(cache, `${name.replace(":", "-")}.tar`);
  if (!existsSync(kept)) {
    const tree = join(folder, "base");
    const options = ["--variant=minbase", "--include=ca-certificates,libatomic1,libstdc++6", "--mode=root"];
    const leftOut = ["man", "locale"].map((what) => `--dpkgopt=path-exclude=/usr/share/${what}/*`);
    execFileSync("mmdebstrap", ["--quiet", ...options, ...leftOut, suite, tree], { stdio: "pipe" });
    mkdirSync(join(tree, "usr/local/lib/node_modules"), { recursive: true });
    cpSync(node, join(tree, "usr/local/bin/node"));
    // Find npm by its command, because `npm prefix` returns a folder of the Node that runs npm.
    const npm = execFileSync("sh", ["-c", 'realpath "$(command -v npm)"'], { encoding: "utf8" }).trim();
    cpSync(join(npm, "../.."), join(tree, "usr/local/lib/node_modules/npm"), {
      recursive: true,
      verbatimSymlinks: true,
    });
    symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", join(tree, "usr/local/bin/npm"));
    mkdirSync(cache, { recursive: true });
    execFileSync("tar", ["--numeric-owner", "--exclude=./dev/*", "-cf", `${kept}.new`, "-C", tree, "."]);
    renameSync(`${kept}.new`, kept);
    rmSync(tree, { recursive: true, force: true });
  }
  const path = "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  podman("import", "--quiet", "--change", path, kept, `docker.io/library/${name}`);
}
