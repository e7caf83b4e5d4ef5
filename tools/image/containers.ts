import { type ExecFileSyncOptions, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Images and containers are in a temporary store, which is deleted on disposal. */
export interface Containers extends Disposable {
  readonly folder: string;
  /** Returns the standard output. Throws Error with the last lines of output if the command fails. */
  podman(...args: readonly string[]): string;
}

interface Failed {
  readonly code?: string;
  readonly stderr?: Buffer;
  readonly stdout?: Buffer;
}

/** Podman warns that health checks need systemd. The warning is unimportant, because `tryContainer` runs the health check. */
const noTimer = /systemd connection/;

export function openContainers(): Containers {
  const folder = mkdtempSync(join(tmpdir(), "kibitz-image-"));
  const config = join(folder, "containers.conf");
  // Podman's default of a million fails if this process has a lower limit.
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
      const lines = `${stdout}\n${stderr}`.split("\n").filter((line) => line !== "" && !noTimer.test(line));
      throw new Error(`podman ${args.join(" ")}: ${lines.slice(-20).join("\n")}`);
    }
  };
  return {
    folder,
    podman,
    [Symbol.dispose]() {
      podman("rm", "--all", "--force", "--time", "0");
      podman("image", "umount", "--all", "--force");
      // Unmount the store, because Podman leaves it mounted.
      execFileSync("sh", ["-c", `umount -l ${join(folder, "store/overlay")} 2>/dev/null || true`]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
