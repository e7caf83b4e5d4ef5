import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Containers } from "./containers.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const dockerfile = join(root, "deploy/Dockerfile");

/** The image that the Dockerfile's stages begin with, with the build argument's default in its place. */
export function baseOfDockerfile(): string {
  const text = readFileSync(dockerfile, "utf8");
  const [, version = ""] = /^ARG NODE=(\S+)$/m.exec(text) ?? [];
  const bases = new Set([...text.matchAll(/^FROM (\S+)/gm)].map(([, from = ""]) => from));
  bases.delete("scratch");
  if (bases.size !== 1) {
    throw new Error(`deploy/Dockerfile begins with ${[...bases]}: one base was expected`);
  }
  return [...bases].join("").replace(/\$\{NODE\}/, version);
}

/** Seconds since 1970 of the commit that is checked out, unless the environment says another time. */
export function sourceDateEpoch(): string {
  return (
    process.env.SOURCE_DATE_EPOCH ??
    execFileSync("git", ["log", "-1", "--format=%ct"], { cwd: root, encoding: "utf8" }).trim()
  );
}

/** Builds the Dockerfile, every step of it anew. What npm downloads is kept between builds: it is checked by its digests. */
export function buildImage({ podman, folder }: Containers, tag: string): void {
  const npmCache = join(folder, "npm");
  mkdirSync(npmCache, { recursive: true });
  podman(
    "build",
    ...["--isolation", "chroot", "--layers", "--no-cache", "--pull=never", "--format", "docker", "--quiet"],
    ...["--timestamp", sourceDateEpoch(), "--ignorefile", `${dockerfile}.dockerignore`],
    ...[`${npmCache}:/root/.npm`, ...settingsOfNpm(folder)].flatMap((volume) => ["--volume", volume]),
    ...["--file", dockerfile, "--tag", tag, root],
  );
}

/** Where this machine's npm fetches from, and whom it trusts: seen while it is built, and in no layer. */
function settingsOfNpm(folder: string): readonly string[] {
  const setting = (key: string) =>
    execFileSync("npm", ["config", "get", key], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  const told = setting("cafile");
  // What Node trusts beside its own, npm does as well.
  const cafile = told === "null" || told === "" ? (process.env.NODE_EXTRA_CA_CERTS ?? "") : told;
  const file = join(folder, "npmrc");
  const trusts = cafile !== "";
  writeFileSync(
    file,
    `registry=${setting("registry")}\n${trusts ? `cafile=${cafile}\n` : ""}update-notifier=false\n`,
  );
  return [`${file}:/root/.npmrc:ro`, ...(trusts ? [`${cafile}:${cafile}:ro`] : [])];
}

export interface Layer {
  /** The instruction that made it. */
  readonly madeBy: string;
  readonly bytes: number;
  /** sha256 of its uncompressed tar. */
  readonly digest: string;
}

/** The layers of an image, the lowest first. */
export function layersOf({ podman }: Containers, tag: string): readonly Layer[] {
  const digests: readonly string[] = JSON.parse(
    podman("inspect", "--format", "{{json .RootFS.Layers}}", tag),
  );
  const history: readonly { readonly CreatedBy: string; readonly size: number }[] = JSON.parse(
    podman("history", "--no-trunc", "--format", "json", tag),
  );
  // The Dockerfile's own words, of which only those that copy make a layer.
  const copies = readFileSync(dockerfile, "utf8")
    .split("\nFROM scratch\n")[1]
    ?.match(/^COPY .*$/gm);
  const sizes = history.filter(({ size }) => size > 0).toReversed();
  if (copies?.length !== digests.length || sizes.length !== digests.length) {
    throw new Error(
      `${digests.length} layers of ${copies?.length} COPY and ${sizes.length} entries of the history`,
    );
  }
  return digests.map((digest, at) => ({
    madeBy: copies[at] ?? "",
    bytes: sizes[at]?.size ?? 0,
    digest,
  }));
}

/** What a container is started with: user, command, environment, health check. Nothing of when and from what it was built. */
export function configOf({ podman }: Containers, tag: string): unknown {
  return JSON.parse(podman("inspect", "--format", "{{json .Config}}", tag));
}
