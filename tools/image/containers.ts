import { type ExecFileSyncOptions, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Podman with a store of its own, which is gone with it. No daemon, and nothing of what else is kept on the machine. */
export interface Containers extends Disposable {
  /** For files that belong to it. */
  readonly folder: string;
  /** What a command prints. @throws Error with what it complained of, if it fails. */
  podman(...args: readonly string[]): string;
}

/** What is thrown for a command that has failed, or that is not there. */
interface Failed {
  readonly code?: string;
  readonly stderr?: Buffer;
  readonly stdout?: Buffer;
}

/** What Podman says where no systemd runs, which would call the health check: we do. */
const noTimer = /systemd connection/;

/** Podman builds with `chroot` for isolation and runs with runc, which works in most places where one is root. */
export function openContainers(): Containers {
  const folder = mkdtempSync(join(tmpdir(), "kibitz-image-"));
  const config = join(folder, "containers.conf");
  // More than this process may have cannot be given, and Podman would ask for a million.
  writeFileSync(config, '[containers]\ndefault_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]\n');
  mkdirSync(join(folder, "store"));
  const own = [
    ...["--root", join(folder, "store"), "--runroot", join(folder, "run"), "--storage-driver", "overlay"],
    ...["--cgroup-manager", "cgroupfs", "--runtime", "runc"],
  ];
  const options: ExecFileSyncOptions = {
    env: { ...process.env, CONTAINERS_CONF: config },
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: 256 * 1024 * 1024,
  };
  const podman = (...args: readonly string[]) => {
    try {
      return String(execFileSync("podman", [...own, ...args], options)).trim();
    } catch (error) {
      const { code, stderr = "", stdout = "" } = error as Failed;
      if (code === "ENOENT") {
        throw new Error("podman is not here: apt-get install podman runc mmdebstrap");
      }
      const told = `${stdout}\n${stderr}`.split("\n").filter((line) => line !== "" && !noTimer.test(line));
      throw new Error(`podman ${args.join(" ")}: ${told.slice(-20).join("\n")}`);
    }
  };
  return {
    folder,
    podman,
    [Symbol.dispose]() {
      podman("rm", "--all", "--force", "--time", "0");
      podman("image", "umount", "--all", "--force");
      // It keeps a mount of its own on its store.
      execFileSync("sh", ["-c", `umount -l ${join(folder, "store/overlay")} 2>/dev/null || true`]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
