import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Boots systemd in a root folder of its own, whose files are those of this machine: nothing that systemd or a document changes remains.
 * `/proc/sys` and `/sys` are read-only, and systemd has no right to load modules or to set the clock.
 */
export const bootScript = String.raw`
set -e
folder=$1 root=$4
ip link set lo up
scratch=$folder/scratch
mount -t tmpfs -o mode=755 kibitz-docs "$scratch"
cd "$scratch"
mkdir upper work root
mount -t overlay overlay -o "lowerdir=/,upperdir=$scratch/upper,workdir=$scratch/work" root
cd root
mount -t proc proc proc
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup sys/fs/cgroup
for own in run tmp dev; do mount -t tmpfs -o mode=755 "$own" "$own"; done
chmod 1777 tmp
for device in null zero full random urandom tty; do
  touch "dev/$device"
  mount --bind "/dev/$device" "dev/$device"
done
mkdir dev/shm dev/pts
mount -t tmpfs shm dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
for shared in "$folder" "$root"; do
  mkdir -p ".$shared"
  mount --bind "$shared" ".$shared"
done
: >etc/fstab
printf '127.0.0.1 localhost\n::1 localhost\n' >etc/hosts
# This unit deletes what is in /tmp.
ln -sf /dev/null etc/systemd/system/systemd-tmpfiles-setup.service
mkdir .old
pivot_root . .old
umount --lazy /.old
echo ready
exec setpriv --bounding-set=-sys_module,-sys_time,-sys_boot \
  env --ignore-environment container=lxc PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  /lib/systemd/systemd --system --unit=basic.target --log-target=journal --show-status=no
`;

/** The control groups of version 2, which systemd needs, also on a machine that uses version 1 for its limits. */
const groups =
  ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].find((path) => existsSync(join(path, "cgroup.procs"))) ?? "";

/** A control group that contains the groups of systemd and of its services. */
interface OwnGroup {
  /** A command prefix: the command and its children are in the group. */
  readonly through: readonly string[];
  /** Removes the group, after its processes have ended. */
  remove(): Promise<void>;
}

export function createGroup(name: string): OwnGroup {
  const folder = join(groups, name);
  mkdirSync(folder);
  return {
    through: ["sh", "-c", 'echo $$ >"$0" && exec "$@"', join(folder, "cgroup.procs")],
    async remove() {
      // A killed process stays in its group until the kernel has ended it.
      while (existsSync(folder)) {
        try {
          removeGroups(folder);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== "EBUSY") {
            throw error;
          }
          await sleep(20);
        }
      }
    },
  };
}

function removeGroups(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) {
      removeGroups(join(folder, entry.name));
    }
  }
  rmdirSync(folder);
}

/** Resolves when systemd has started all units of its target. @param enter the arguments of `nsenter` for the machine */
export async function booted(enter: readonly string[]): Promise<void> {
  for (let left = 600; ; left--) {
    try {
      const state = execFileSync("nsenter", [...enter, "systemctl", "is-system-running", "--wait"], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
      });
      if (state.trim() === "running") {
        return;
      }
    } catch (error) {
      // systemd does not listen yet.
      const { stdout, stderr } = error as { stdout?: string; stderr?: string };
      if (left === 0 || /degraded/.test(stdout ?? "")) {
        throw new Error(`systemd has not booted: ${stdout}${stderr}`);
      }
    }
    await sleep(100);
  }
}
