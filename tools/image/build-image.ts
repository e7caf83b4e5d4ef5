import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Containers } from "./containers.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const dockerfile = join(root, "deploy/Dockerfile");

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

/** Returns SOURCE_DATE_EPOCH from the environment, or the time of the current commit, in seconds since 1970. */
export function sourceDateEpoch(): string {
  return (
    process.env.SOURCE_DATE_EPOCH ??
    execFileSync("git", ["log", "-1", "--format=%ct"], { cwd: root, encoding: "utf8" }).trim()
  );
}

/** Builds the image without cached layers. Only the npm downloads are cached, because npm verifies their digests. */
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

/** Returns volumes with the npm settings of this machine. The volumes are not a part of the image. */
function settingsOfNpm(folder: string): readonly string[] {
  const setting = (key: string) =>
    execFileSync("npm", ["config", "get", key], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  const configured = setting("cafile");
  // Use Node's extra certificates, because npm trusts these certificates too.
  const cafile =
    configured === "null" || configured === "" ? (process.env.NODE_EXTRA_CA_CERTS ?? "") : configured;
  const file = join(folder, "npmrc");
  const trusts = cafile !== "";
  writeFileSync(
    file,
    `registry=${setting("registry")}\n${trusts ? `cafile=${cafile}\n` : ""}update-notifier=false\n`,
  );
  return [`${file}:/root/.npmrc:ro`, ...(trusts ? [`${cafile}:${cafile}:ro`] : [])];
}

export interface Layer {
  readonly madeBy: string;
  readonly bytes: number;
  readonly digest: string;
}

/** Returns the layers of an image, lowest layer first. */
export function layersOf({ podman }: Containers, tag: string): readonly Layer[] {
  const digests: readonly string[] = JSON.parse(
    podman("inspect", "--format", "{{json .RootFS.Layers}}", tag),
  );
  const history: readonly { readonly CreatedBy: string; readonly size: number }[] = JSON.parse(
    podman("history", "--no-trunc", "--format", "json", tag),
  );
  // In the last stage of the Dockerfile, only COPY instructions create layers.
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

export function configOf({ podman }: Containers, tag: string): unknown {
  return JSON.parse(podman("inspect", "--format", "{{json .Config}}", tag));
}
