// A program in the place of a UCI binary: it prints the things that it could do to the machine it runs on.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { connect } from "node:net";

const [keys, victimFile, port] = process.argv.slice(2);
// The runner of the tests, which has a secret in its environment as a server has its pepper.
const server = process.ppid;

const attempts = {
  readKeys: () => readFileSync(keys),
  readEnvironment: () => readFileSync(`/proc/${server}/environ`),
  connect: () =>
    new Promise((resolve, reject) => {
      connect(Number(port), "127.0.0.1").on("connect", resolve).on("error", reject);
    }),
  write: () => {
    // A write beyond the size limit raises a signal that would end this process. The shell survives and returns an error
    // status.
    const child = spawn("/bin/sh", ["-c", `echo x > ${victimFile}`], { stdio: "ignore" });
    return new Promise((resolve, reject) => {
      child.on("exit", (code) => (code === 0 ? resolve() : reject(new Error("no"))));
    });
  },
  signal: () => process.kill(server, 0),
  gainPrivileges: () => {
    if (!/NoNewPrivs:\t0/.test(readFileSync("/proc/self/status", "utf8"))) {
      throw new Error("no");
    }
  },
  dumpCore: () => {
    if (/Max core file size +0 +0 /.test(readFileSync("/proc/self/limits", "utf8"))) {
      throw new Error("no");
    }
  },
};

for (const [name, attempt] of Object.entries(attempts)) {
  let outcome = "done";
  try {
    await attempt();
  } catch {
    outcome = "refused";
  }
  process.stdout.write(`${name} ${outcome}\n`);
}
process.exit();
